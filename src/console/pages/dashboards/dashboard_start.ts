/** Initial values of the form of a new dashboard. */
export interface DashboardStart {
  readonly serviceId: string | null;
  readonly name: string;
}

export const EMPTY_START: DashboardStart = { serviceId: null, name: '' };

const LAST_SHOWN = 'tocsin.dashboards.last.';

/** Dashboard that somebody last looked at; null if they were last at the list, or nowhere. */
export const lastDashboard = (orgId: string): string | null => localStorage.getItem(LAST_SHOWN + orgId);

/** Remembers the dashboard that somebody looks at; null is the list. */
export function rememberDashboard(orgId: string, dashboardId: string | null): void {
  if (dashboardId === null) localStorage.removeItem(LAST_SHOWN + orgId);
  else localStorage.setItem(LAST_SHOWN + orgId, dashboardId);
}
