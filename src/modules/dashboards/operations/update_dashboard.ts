import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { DashboardView, Layout, toDashboardView, DASHBOARD_EXAMPLE } from '#modules/dashboards/operations/view.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';

export const updateDashboard = defineAction({
  name: 'update_dashboard',
  summary: 'Rename a dashboard, replace its widget layout as a whole, or both.',
  guidance: 'The layout must hold every widget that is to stay.',
  permission: 'dashboards:edit',
  effect: 'write',
  input: Type.Object({ dashboardId: IdText, name: Type.Optional(Name), layout: Type.Optional(Layout) }, STRICT),
  result: DashboardView,
  example: { dashboardId: IDS.dashboardId, name: 'Checkout', layout: DASHBOARD_EXAMPLE.layout },
  exampleResult: { ...DASHBOARD_EXAMPLE, name: 'Checkout', updatedAt: '2027-02-01T13:20:11.046Z' },
  async handle({ dashboardId, ...fields }, { caller, stores, now, record }) {
    const before = await stores.dashboards.lock(caller.orgId, dashboardId);
    const after = { ...before, ...fields };
    if (isDeepStrictEqual(before, after)) return toDashboardView(before);
    const saved = { ...after, updatedAt: now };
    await stores.dashboards.save(saved);
    record({ target: before.id, before: toDashboardView(before), after: toDashboardView(saved) });
    return toDashboardView(saved);
  },
});
