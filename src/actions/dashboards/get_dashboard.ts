import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { DashboardView, toDashboardView } from '#actions/dashboards/view.ts';
import { CLOSED, IdText } from '#actions/fields.ts';

export const getDashboard = defineAction({
  name: 'get_dashboard',
  summary: 'Return one dashboard with its widget layout.',
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object({ dashboardId: IdText }, CLOSED),
  result: DashboardView,
  async handle({ dashboardId }, { caller, stores }) {
    return toDashboardView(await stores.dashboards.get(caller.orgId, dashboardId));
  },
});
