import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

/**
 * Restarts the timers of steps after the clock was set back, which would delay them by that much. The true elapsed time
 * is unknown then, so each wait starts again: no step waits for longer than its policy says.
 */
export async function restartTimers({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  await storesOf(db.session()).stepTimers.restartTimers(clock.now());
}
