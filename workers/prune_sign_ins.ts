import { livenessAt } from '#auth/sessions.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

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
