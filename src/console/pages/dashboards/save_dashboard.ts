import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { showError, showSuccess } from '#console/components/notice.tsx';
import { named } from '#console/components/text/name.tsx';
import { useNavigate } from '@tanstack/react-router';
import { useMutation } from '@tanstack/react-query';
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

/** Copies a dashboard with all its widgets, and opens the copy. */
export function useDuplicateDashboard() {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  return useMutation({
    mutationFn: async (dashboardId: string) => {
      const { name, serviceId, layout } = await invoke(orgId, 'get_dashboard', { dashboardId });
      const copy = { name: `${name} (copy)`.slice(0, 500), layout, ...(serviceId !== null && { serviceId }) };
      return await invoke(orgId, 'create_dashboard', copy);
    },
    async onSuccess({ dashboardId, name }) {
      await refresh('dashboards');
      await navigate({ to: '/dashboards/$dashboardId', params: { dashboardId } });
      showSuccess(named`${name} is created`);
    },
    onError: (error) => showError('The dashboard was not duplicated', error),
  });
}
