import { revokedBySystem, recordRevocation } from '#auth/oauth/connections.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

/** Limit on the rows removed by one statement, so that none holds locks for long. */
const BATCH = 1_000;

/** A connection that was approved gets its first token within this time, or never. */
const FIRST_TOKEN_WITHIN = Temporal.Duration.from({ hours: 1 });

const revocationOf = revokedBySystem('its tokens have expired');

interface PruningRuntime {
  readonly db: Database;
  readonly clock: Clock;
}

/**
 * Removes expired codes, tokens and requests, connections that have none of them left, and apps that registered and were
 * never connected.
 */
export async function pruneConnections({ db, clock }: PruningRuntime): Promise<void> {
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
