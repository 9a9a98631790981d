import type { InfiniteData } from '@tanstack/react-query';
import type { Static } from 'typebox';

import type { searchIncidents } from '#modules/incidents/operations/search_incidents.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';

type Page = Static<(typeof searchIncidents)['result']>;
type FoundIncident = Page['incidents'][number];

/** The loaded pages of a list of incidents. */
export type IncidentPages = InfiniteData<Page, string | null>;

/**
 * Returns the list after some incidents have changed. `rows` are the changed incidents that belong to the list now. A
 * row that comes after the loaded pages is left out; a later page brings it.
 */
export function withRows(
  list: IncidentPages,
  changed: ReadonlySet<string>,
  rows: readonly FoundIncident[],
): IncidentPages {
  const pages = list.pages.map((page) => ({
    ...page,
    incidents: page.incidents.filter(({ incidentId }) => !changed.has(incidentId)),
  }));
  for (const row of rows) insert(pages, row);
  return { ...list, pages };
}

function insert(pages: readonly Page[], row: FoundIncident): void {
  for (const page of pages) {
    const index = page.incidents.findIndex((other) => comesBefore(positionOf(row), positionOf(other)));
    if (index === -1) continue;
    page.incidents.splice(index, 0, row);
    return;
  }
  const last = pages.at(-1);
  if (last === undefined) return;
  if (last.nextCursor === null || comesBefore(positionOf(row), positionAt(last.nextCursor))) last.incidents.push(row);
}

/** Position of a row in the order of the server: by status, then the newest first. */
interface Position {
  readonly status: string;
  readonly atMs: number;
  readonly id: string;
}

const ORDER: readonly string[] = INCIDENT_STATUSES;

function comesBefore(a: Position, b: Position): boolean {
  if (a.status !== b.status) return ORDER.indexOf(a.status) < ORDER.indexOf(b.status);
  return a.atMs > b.atMs || (a.atMs === b.atMs && a.id > b.id);
}

function positionOf({ incidentId, status, triggeredAt, resolvedAt }: FoundIncident): Position {
  const at = status === 'resolved' && resolvedAt !== null ? resolvedAt : triggeredAt;
  return { status, atMs: Date.parse(at), id: incidentId };
}

function positionAt(cursor: string): Position {
  const [status = '', at = '', id = ''] = cursor.split('.');
  return { status, atMs: Number(at), id };
}
