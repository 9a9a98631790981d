import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { historyStart, type PageContent, type PublishedIncident } from '#modules/status_pages/decide/page_state.ts';
import { IMPACTS, STAGES, STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import type {
  NewComponent,
  PublicationRow,
  StatusPageRow,
  UpdateRow,
} from '#modules/status_pages/store/status_page_store.ts';
import type { Stores } from '#modules/stores.ts';

const GroupView = Type.Object({
  name: Type.String({ description: 'heading; empty for none' }),
  services: Type.Array(Type.Object({ serviceId: IdText, name: Type.String({ description: 'public name' }) })),
});

export const StatusPageView = Type.Object({
  statusPageId: IdText,
  slug: Type.String(),
  title: Type.String(),
  about: nullable(Type.String()),
  isPublic: Type.Boolean({ description: 'whether everybody may read it; otherwise members who are signed in' }),
  address: Type.String(),
  groups: Type.Array(GroupView),
  version: Type.Integer(),
  subscribers: Type.Integer({ description: 'addresses that are told of updates' }),
  updatedAt: Timestamp,
});

export const PublicationView = Type.Object({
  publicationId: IdText,
  statusPageId: IdText,
  incidentId: nullable(Type.String({ description: 'null once the incident is gone' })),
  title: Type.String(),
  impact: Type.Enum([...IMPACTS]),
  serviceIds: Type.Array(Type.String()),
  beganAt: Timestamp,
  endedAt: nullable(Timestamp),
  updates: Type.Array(Type.Object({ stage: Type.Enum([...STAGES]), text: Type.String(), at: Timestamp }), {
    description: 'newest first',
  }),
});

function toGroups(components: readonly NewComponent[]): Static<typeof GroupView>[] {
  const groups = Map.groupBy(components, ({ groupName }) => groupName);
  return [...groups].map(([name, members]) => {
    return { name, services: members.map(({ serviceId, name: publicName }) => ({ serviceId, name: publicName })) };
  });
}

export function toStatusPageView(
  page: StatusPageRow,
  components: readonly NewComponent[],
  { baseUrl, subscribers }: { readonly baseUrl: string; readonly subscribers: number },
): Static<typeof StatusPageView> {
  const { id: statusPageId, slug, title, about, isPublic, version } = page;
  const address = `${baseUrl}${STATUS_PATH}/${slug}`;
  const updatedAt = toTimestamp(page.updatedAt);
  return {
    statusPageId,
    slug,
    title,
    about,
    isPublic,
    address,
    groups: toGroups(components),
    version,
    subscribers,
    updatedAt,
  };
}

export function toPublicationView(row: PublicationRow, updates: readonly UpdateRow[]): Static<typeof PublicationView> {
  const { id: publicationId, pageId: statusPageId, incidentId, title, impact, serviceIds } = row;
  return {
    publicationId,
    statusPageId,
    incidentId,
    title,
    impact,
    serviceIds: [...serviceIds],
    beganAt: toTimestamp(row.beganAt),
    endedAt: toTimestampOrNull(endOf(row)),
    updates: updates
      .filter((update) => update.publicationId === publicationId)
      .map(({ stage, body, at }) => ({ stage, text: body, at: toTimestamp(at) })),
  };
}

export function auditedPage({ slug, title, about, isPublic }: StatusPageRow, components: readonly NewComponent[]) {
  return { slug, title, about, isPublic, groups: toGroups(components) };
}

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
function toPublishedIncidents(rows: readonly PublicationRow[], updates: readonly UpdateRow[]): PublishedIncident[] {
  const byPublication = Map.groupBy(updates, ({ publicationId }) => publicationId);
  return rows.map((row) => {
    const { id, title, impact, serviceIds, beganAt } = row;
    const ofRow = (byPublication.get(id) ?? []).map(({ stage, body, at }) => ({ stage, body, at }));
    return { id, title, impact, serviceIds, beganAt, endedAt: endOf(row), updates: ofRow };
  });
}

/** Returns when a publication ended; null while it is open. */
function endOf(row: PublicationRow): Temporal.Instant | null {
  if (row.endedAt !== null) return row.endedAt;
  if (row.incidentStatus === null) return row.changedAt;
  return row.incidentStatus === 'resolved' ? (row.incidentResolvedAt ?? row.changedAt) : null;
}
