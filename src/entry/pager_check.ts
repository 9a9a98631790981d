import { judgePager, type PagerHealth } from '#modules/notifications/decide/pager_health.ts';
import type { Foundation } from '#entry/foundation.ts';
import { storesOf } from '#modules/stores.ts';

/** Reads from the stores how late the pager is. Rejects if a store does not answer. */
export async function checkPager({ db, clock }: Pick<Foundation, 'db' | 'clock'>): Promise<PagerHealth> {
  const now = clock.now();
  return judgePager(await storesOf(db.session()).pagerSigns.find(now), now);
}
