import type { Temporal } from '#kernel/time.ts';
import { historyStart, type PageContent, type PublishedIncident } from '#modules/status_pages/decide/page_state.ts';
import type { PublicationRow, UpdateRow } from '#modules/status_pages/store/publication_store.ts';
import type { StatusPageRow } from '#modules/status_pages/store/status_page_store.ts';
import type { Stores } from '#modules/stores.ts';

/** Reads all that a page shows. */
export async function readPage(
  { statusPages, publications }: Pick<Stores, 'statusPages' | 'publications'>,
  page: StatusPageRow,
  now: Temporal.Instant,
): Promise<PageContent> {
  const rows = await publications.listOfPage(page.id, historyStart(now));
  const updates = await publications.listUpdates(rows.map(({ id }) => id));
  const { title, about, isPublic } = page;
  return {
    title,
    about,
    isPublic,
    components: await statusPages.listComponents(page.id),
    publications: toPublishedIncidents(rows, updates),
  };
}

/** Returns publications with their updates. One whose incident is resolved or gone has ended, too. */
export function toPublishedIncidents(
  rows: readonly PublicationRow[],
  updates: readonly UpdateRow[],
): PublishedIncident[] {
  const byPublication = Map.groupBy(updates, ({ publicationId }) => publicationId);
  return rows.map((row) => {
    const { id, title, impact, serviceIds, beganAt } = row;
    const ofRow = (byPublication.get(id) ?? []).map(({ stage, body, at }) => ({ stage, body, at }));
    return { id, title, impact, serviceIds, beganAt, endedAt: endOf(row), updates: ofRow };
  });
}

/** Returns when a publication ended; null while it is open. */
export function endOf(row: PublicationRow): Temporal.Instant | null {
  if (row.endedAt !== null) return row.endedAt;
  if (row.incidentStatus === null) return row.changedAt;
  return row.incidentStatus === 'resolved' ? (row.incidentResolvedAt ?? row.changedAt) : null;
}
