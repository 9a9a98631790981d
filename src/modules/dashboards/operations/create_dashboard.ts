import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { DashboardView, Layout, toDashboardView, DASHBOARD_EXAMPLE } from '#modules/dashboards/operations/view.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, StrictObject } from '#actions/fields.ts';

export const createDashboard = defineAction({
  name: 'create_dashboard',
  summary:
    'Create a dashboard of metric widgets: for one service, or for the whole organization when no serviceId is given.',
  guidance: 'list_metric_names tells what its widgets can query.',
  permission: 'dashboards:edit',
  effect: 'write',
  input: StrictObject({ name: Name, serviceId: Type.Optional(IdText), layout: Type.Optional(Layout) }),
  result: DashboardView,
  example: { name: DASHBOARD_EXAMPLE.name, serviceId: IDS.serviceId, layout: DASHBOARD_EXAMPLE.layout },
  exampleResult: DASHBOARD_EXAMPLE,
  async handle({ name, serviceId, layout = [] }, { caller, stores, now, record }) {
    const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
    const dashboard = await stores.dashboards.insert(
      caller.orgId,
      { name, serviceId: service?.id ?? null, layout },
      now,
    );
    const view = toDashboardView(dashboard);
    record({ target: dashboard.id, before: null, after: view });
    return view;
  },
});
