import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { toDashboardView } from '#modules/dashboards/operations/view.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';

export const deleteDashboard = defineAction({
  name: 'delete_dashboard',
  summary: 'Delete a dashboard and its layout. The metrics it showed stay.',
  guidance: 'Ask your user first.',
  permission: 'dashboards:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ dashboardId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), dashboardId: IdText }),
  example: { dashboardId: IDS.dashboardId },
  exampleResult: { deleted: true, dashboardId: IDS.dashboardId },
  async handle({ dashboardId }, { caller, stores, record }) {
    const dashboard = await stores.dashboards.lock(caller.orgId, dashboardId);
    await stores.dashboards.remove(caller.orgId, dashboard.id);
    record({ target: dashboard.id, before: toDashboardView(dashboard), after: null });
    return { deleted: true as const, dashboardId: dashboard.id };
  },
});
