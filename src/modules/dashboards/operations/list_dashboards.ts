import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import {
  DashboardSummaryView,
  toDashboardSummaryView,
  DASHBOARD_SUMMARY_EXAMPLE,
} from '#modules/dashboards/operations/view.ts';
import { STRICT } from '#actions/fields.ts';

export const listDashboards = defineAction({
  name: 'list_dashboards',
  summary: 'List the metric dashboards of the organization and of its services, without their layouts.',
  guidance: 'The source of dashboardIds.',
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    dashboards: Type.Array(DashboardSummaryView),
    total: Type.Integer({ description: 'how many dashboards there are, also beyond the cut' }),
  }),
  lists: {
    dashboard: ({ dashboards }) =>
      dashboards.map(({ dashboardId, name, serviceId }) => {
        return { id: dashboardId, names: [name], links: serviceId === null ? [] : [serviceId] };
      }),
  },
  aliases: ['get_dashboards', 'search_dashboards'],
  digest: ({ dashboards, total }) => ({ total, dashboards }),
  example: {},
  exampleResult: { dashboards: [DASHBOARD_SUMMARY_EXAMPLE], total: 1 },
  async handle(_input, { caller, stores }) {
    const dashboards = await stores.dashboards.list(caller.orgId, LIST_LIMIT);
    const total = await stores.dashboards.count(caller.orgId);
    return { dashboards: dashboards.map(toDashboardSummaryView), total };
  },
});
