import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/**
 * After the clock has been set back, steps would fire that much too late. How much of a wait had really gone by is not
 * known then; so it begins anew, and no step is held up for longer than its own wait.
 */
export async function bringTimersBack({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  await storesOf(db.session()).incidents.bringTimersBack(clock.now());
}
