import type { RequestOrigin } from '#kernel/caller.ts';
import type { Via } from '#modules/accounts/decide/caller.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { storesOf } from '#modules/stores.ts';

/** Records an answer or a report of a delivery that was forged, altered or too old: its sender is unknown. */
export async function recordRefusedAnswer(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  notification: NotificationRow,
  { action, via, why, origin }: { action: string; via: Via; why: string; origin: RequestOrigin },
): Promise<void> {
  const { orgId, incidentId: target, id: notificationId } = notification;
  const refused = {
    actor: { kind: 'unknown' },
    before: null,
    after: { notificationId, why },
    result: 'forbidden',
  } as const;
  await storesOf(db.session()).audit.append({ orgId, via, action, target, ...refused, origin }, clock.now());
}
