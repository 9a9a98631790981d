import { actionQuery, type InputOf, pagedQuery, type ResultOf } from '#console/api/actions.ts';

export type Dashboard = ResultOf<'get_dashboard'>;
export type FoundDashboard = ResultOf<'search_dashboards'>['dashboards'][number];

export const dashboardQuery = (orgId: string, dashboardId: string) =>
  actionQuery(orgId, 'dashboards', 'get_dashboard', { dashboardId });

type DashboardSearch = Omit<InputOf<'search_dashboards'>, 'cursor'>;

export const dashboardSearchQuery = (orgId: string, search: DashboardSearch = {}) =>
  pagedQuery(orgId, 'dashboards', 'search_dashboards', search);

/** Returns an id for a new widget that no other widget of the dashboard has. */
export function newWidgetId(): string {
  return [...crypto.getRandomValues(new Uint8Array(9))].map((byte) => (byte % 36).toString(36)).join('');
}
