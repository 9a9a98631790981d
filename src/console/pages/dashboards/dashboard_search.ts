import type { VariableValues } from '#modules/dashboards/decide/widget.ts';
import { VARIABLES_MAX } from '#modules/metrics/decide/limits.ts';
import { type RangeSearch, readRangeSearch } from '#console/components/text/time_range.ts';

export const REFRESHES = [
  { name: 'off', label: 'No refresh', seconds: null },
  { name: '10s', label: 'Every 10 s', seconds: 10 },
  { name: '30s', label: 'Every 30 s', seconds: 30 },
  { name: '1m', label: 'Every minute', seconds: 60 },
  { name: '5m', label: 'Every 5 min', seconds: 300 },
] as const;

export const USUAL_REFRESH = '30s';
const USUAL_SECONDS = 30;

/** Search parameters of a dashboard's address. */
export interface DashboardPageSearch extends RangeSearch {
  readonly refresh?: string;
  /** Service of widgets that name none, on a dashboard that has none either. */
  readonly service?: string;
  readonly vars?: VariableValues;
}

export function readDashboardSearch(search: Record<string, unknown>): DashboardPageSearch {
  const { refresh, service, vars } = search;
  const values = typeof vars === 'object' && vars !== null ? Object.entries(vars).slice(0, VARIABLES_MAX) : [];
  const texts = values.filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1].length <= 500,
  );
  return {
    ...readRangeSearch(search),
    ...(typeof service === 'string' && service !== '' && { service }),
    ...(texts.length > 0 && { vars: Object.fromEntries(texts) }),
    ...(REFRESHES.some(({ name }) => name === refresh) && { refresh: String(refresh) }),
  };
}

/** Returns the refresh interval in seconds; null if the dashboard is refreshed only by hand. */
export function readRefresh(refresh: string | undefined): number | null {
  const choice = REFRESHES.find(({ name }) => name === refresh);
  return choice === undefined ? USUAL_SECONDS : choice.seconds;
}

export function readDashboardListSearch({ q }: Record<string, unknown>): { readonly q?: string } {
  return (typeof q === 'string' || typeof q === 'number') && q !== '' ? { q: String(q) } : {};
}
