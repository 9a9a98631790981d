import type { GroupSearch } from '#console/api/exceptions.ts';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import {
  GROUP_SORTS,
  GROUP_STATUSES,
  type GroupSort,
  type GroupStatus,
} from '#modules/exceptions/decide/group_status.ts';

export const GROUP_TABS = [...GROUP_STATUSES, 'all'] as const;

export type GroupTab = (typeof GROUP_TABS)[number];

/** Filter of the list in an address. Absent parameters have their default. */
export interface ExceptionFilter {
  readonly status?: GroupTab;
  readonly service?: string;
  readonly severity?: Level;
  readonly environment?: string;
  readonly release?: string;
  /** Whether only groups that began in the release are shown. */
  readonly isNew?: 'yes';
  /** `me`, `my_teams`, `nobody`, or the id of a person or team. */
  readonly assigned?: string;
  readonly q?: string;
  readonly sort?: GroupSort;
}

export function readExceptionFilter(search: Record<string, unknown>): ExceptionFilter {
  const status = GROUP_TABS.find((tab) => tab === search['status'] && tab !== 'unresolved');
  const severity = LEVELS.find((level) => level === search['severity']);
  const sort = GROUP_SORTS.find((candidate) => candidate === search['sort'] && candidate !== 'last');
  const [service, environment, release, assigned, q] = ['service', 'environment', 'release', 'assigned', 'q'].map(
    (name) => textIn(search[name]),
  );
  return {
    ...(status !== undefined && { status }),
    ...(service !== undefined && { service }),
    ...(severity !== undefined && { severity }),
    ...(environment !== undefined && { environment }),
    ...(release !== undefined && { release }),
    ...(search['isNew'] === 'yes' && { isNew: 'yes' as const }),
    ...(assigned !== undefined && { assigned }),
    ...(q !== undefined && { q }),
    ...(sort !== undefined && { sort }),
  };
}

/** Returns a text from the address, where the router parses digits as a number. */
function textIn(value: unknown): string | undefined {
  return (typeof value === 'string' || typeof value === 'number') && value !== '' ? String(value) : undefined;
}

/** Converts a filter to a search request. `text` is what has been typed so far. */
export function toGroupSearch(filter: ExceptionFilter, text: string | undefined): GroupSearch {
  const { status = 'unresolved', service, severity, environment, release, isNew, assigned, sort } = filter;
  return {
    ...(status !== 'all' && { status }),
    ...(service !== undefined && { serviceId: service }),
    ...(severity !== undefined && { severity }),
    ...(environment !== undefined && { environment }),
    ...(release !== undefined && (isNew === undefined ? { release } : { newInRelease: release })),
    ...(assigned !== undefined && { assignedTo: assigned }),
    ...(text !== undefined && { query: text }),
    ...(sort !== undefined && { sort }),
  };
}

/** Converts a filter to the criteria of all matching groups, in the statuses of the tab. */
export function toMatching(filter: ExceptionFilter, text: string | undefined) {
  const { status: _status, sort: _sort, ...search } = toGroupSearch(filter, text);
  const { status: tab = 'unresolved' } = filter;
  return { ...search, statuses: GROUP_STATUSES.filter((status) => isInTab(status, tab)) };
}

export function isFiltered({ service, severity, environment, release, assigned, q }: ExceptionFilter): boolean {
  return [service, severity, environment, release, assigned, q].some((value) => value !== undefined);
}

export const NO_FILTER = {
  service: undefined,
  severity: undefined,
  environment: undefined,
  release: undefined,
  isNew: undefined,
  assigned: undefined,
  q: undefined,
};

export function isInTab(status: GroupStatus, tab: GroupTab): boolean {
  return tab === 'all' || tab === status;
}

/** Event of a group in an address: without `event`, the newest, or the newest of a day. */
export interface EventAddress {
  readonly event?: string;
  readonly day?: string;
}

export function readEventPlace({ event, day }: Record<string, unknown>): EventAddress {
  return {
    ...(typeof event === 'string' && /^\d{1,13}\.[\da-f]{32}$/.test(event) && { event }),
    ...(typeof day === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(day) && { day }),
  };
}

/** Returns the number of groups in the tab. */
export function totalOf(counts: Readonly<Record<GroupStatus, number>>, tab: GroupTab): number {
  return GROUP_STATUSES.filter((status) => isInTab(status, tab)).reduce((sum, status) => sum + counts[status], 0);
}
