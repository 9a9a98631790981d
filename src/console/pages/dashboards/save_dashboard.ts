import { type InputOf, invoke } from '#console/api/actions.ts';
import type { Dashboard } from '#console/api/dashboards.ts';
import { isApiError } from '#console/api/http.ts';

interface Outcome {
  readonly isSaved: boolean;
  /** Dashboard as it is now: as somebody else has left it, if it was not saved. */
  readonly dashboard: Dashboard;
}

/** Saves a dashboard, unless somebody else has changed it since it was read. */
export async function saveDashboard(orgId: string, input: InputOf<'save_dashboard'>): Promise<Outcome> {
  try {
    return { isSaved: true, dashboard: await invoke(orgId, 'save_dashboard', input) };
  } catch (error) {
    if (!isApiError(error, 409)) throw error;
    return { isSaved: false, dashboard: await invoke(orgId, 'get_dashboard', { dashboardId: input.dashboardId }) };
  }
}
