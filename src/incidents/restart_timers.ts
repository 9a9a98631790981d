import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/**
 * After the clock was set back, steps would fire too late by that much. How much of a wait had really passed is not
 * known then, so it starts again: no step waits for longer than its policy says.
 */
export async function restartTimers({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  await storesOf(db.session()).stepTimers.restartTimers(clock.now());
}
