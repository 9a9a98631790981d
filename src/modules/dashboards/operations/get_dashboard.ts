import { defineAction } from '#actions/action_context.ts';
import { DashboardView, toDashboardView, DASHBOARD_EXAMPLE } from '#modules/dashboards/operations/view.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';

export const getDashboard = defineAction({
  name: 'get_dashboard',
  summary: 'Return one dashboard with its widget layout.',
  guidance: 'Call it before update_dashboard.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({ dashboardId: IdText }),
  result: DashboardView,
  example: { dashboardId: IDS.dashboardId },
  exampleResult: DASHBOARD_EXAMPLE,
  async handle({ dashboardId }, { caller, stores }) {
    return toDashboardView(await stores.dashboards.get(caller.orgId, dashboardId));
  },
});
