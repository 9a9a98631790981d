import type { UnitOfWork } from '#actions/unit_of_work.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';

/** Tells the timelines how far pages have come; what is no page is not told. */
export async function recordPages(
  { stores, now }: UnitOfWork,
  moved: readonly NotificationRow[],
  event: 'page_sent' | 'page_delivered' | 'page_delayed',
  details: object = {},
): Promise<void> {
  await stores.incidents.recordEvents(
    moved.flatMap(({ kind, incidentId, userId, channel, stepIndex, digestId }) => {
      if (kind !== 'page' || incidentId === null) return [];
      const data = { userId, channel, stepIndex, ...(digestId !== null && { digest: true }), ...details };
      return [{ incidentId, event, data }];
    }),
    now,
  );
}
