import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { livenessAt } from '#auth/sessions.ts';

/** Invitations that nobody accepted are listed for so long. */
const KEEP_INVITATIONS_DAYS = 30;
/** Longer than anything is counted. */
const KEEP_TRIES_HOURS = 24;

/** Removes what lets nobody in any more: sessions that ended, links that expired, tries that no longer count. */
export async function forgetSignIns(runtime: UnitOfWorkRuntime): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    await stores.sessions.removeEnded(livenessAt(now));
    await stores.passwordResets.removeOld(now.subtract({ hours: KEEP_TRIES_HOURS }));
    await stores.invitations.removeOld(now.subtract({ hours: KEEP_INVITATIONS_DAYS * 24 }));
    await stores.signInBrakes.removeOld(now.subtract({ hours: KEEP_TRIES_HOURS }));
  });
}
