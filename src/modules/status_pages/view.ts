import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { IMPACTS, STAGES, STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { endOf } from '#modules/status_pages/read_page.ts';
import type { PublicationRow, UpdateRow } from '#modules/status_pages/store/publication_store.ts';
import type { NewComponent, StatusPageRow } from '#modules/status_pages/store/status_page_store.ts';

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

/** Returns the groups of a page, in its order. */
export function toGroups(components: readonly NewComponent[]): Static<typeof GroupView>[] {
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

/** Returns what the audit log holds of a page. */
export function auditedPage({ slug, title, about, isPublic }: StatusPageRow, components: readonly NewComponent[]) {
  return { slug, title, about, isPublic, groups: toGroups(components) };
}
