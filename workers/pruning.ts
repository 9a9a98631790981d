import { recordRevocation, revokedBySystem } from '#auth/oauth/connections.ts';
import { livenessAt } from '#auth/sessions.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Database } from '#storage/postgres/database.ts';

/** The longest time for which incidents are kept. */
const KEEP_DAYS = 400;

/** Removes old digests and test messages. The pages of a digest stay in the logs of their incidents. */
export async function pruneNotifications(runtime: UnitOfWorkRuntime): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.notifications.pruneWithoutIncident(now.subtract({ hours: KEEP_DAYS * 24 }));
  });
}

/** Days for which invitations that nobody accepted are listed. */
const KEEP_INVITATIONS_DAYS = 30;
/** Hours for which attempts are kept, longer than they are counted. */
const KEEP_ATTEMPTS_HOURS = 24;

/** Hours for which limits are kept; they are full again after a minute. */
const KEEP_LIMITS_HOURS = 1;

/** Removes ended sessions, expired links, old invitations, and sign-in attempts and limits that no longer count. */
export async function pruneSignIns(runtime: UnitOfWorkRuntime): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.sessions.removeEnded(livenessAt(now));
    await stores.passwordResets.removeOld(now.subtract({ hours: KEEP_ATTEMPTS_HOURS }));
    await stores.invitations.removeOld(now.subtract({ hours: KEEP_INVITATIONS_DAYS * 24 }));
    await stores.signInLimits.removeOld(now.subtract({ hours: KEEP_ATTEMPTS_HOURS }));
    await stores.tokenBuckets.removeOld(now.subtract({ hours: KEEP_LIMITS_HOURS }));
  });
}

/** Limit on the rows removed by one statement, so that none holds locks for long. */
const BATCH = 1_000;

/** A connection that was approved gets its first token within this time, or never. */
const FIRST_TOKEN_WITHIN = Temporal.Duration.from({ hours: 1 });

const revocationOf = revokedBySystem('its tokens have expired');

/**
 * Removes expired codes, tokens and requests, connections that have none of them left, and apps that registered and were
 * never connected.
 */
export async function pruneConnections({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  const now = clock.now();
  for (let removed = BATCH; removed === BATCH;) {
    removed = await db.transaction(async (session) => {
      const dead = await storesOf(session).connections.removeDead(now.subtract(FIRST_TOKEN_WITHIN), now, BATCH);
      for (const connection of dead) await recordRevocation(session, connection, revocationOf(connection), now);
      return dead.length;
    });
  }
  const { oauthRecords } = storesOf(db.session());
  while ((await oauthRecords.removeExpired(now, BATCH)) > 0);
}
