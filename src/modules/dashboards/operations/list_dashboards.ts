import { Type } from 'typebox';

import { defineAction, defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, nullable, StrictObject } from '#actions/fields.ts';
import { nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import {
  DASHBOARD_SUMMARY_EXAMPLE,
  DashboardSummaryView,
  toDashboardSummaryView,
} from '#modules/dashboards/operations/view.ts';

export const listDashboards = defineAction({
  name: 'list_dashboards',
  summary: 'List the metric dashboards of the organization and of its services, without their layouts.',
  guidance: 'The source of dashboardIds.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({}),
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
    const [dashboards, total] = await Promise.all([
      stores.dashboards.list(caller.orgId, LIST_LIMIT),
      stores.dashboards.count(caller.orgId),
    ]);
    return { dashboards: dashboards.map(toDashboardSummaryView), total };
  },
});

const LIMIT = 50;
const LIMIT_MAX = 200;

/** Lists dashboards with paging, so that each can be reached. */
export const searchDashboards = defineOperation({
  name: 'search_dashboards',
  summary: 'Find dashboards page by page, by name.',
  permission: 'dashboards:view',
  effect: 'read',
  input: StrictObject({ text: searchInput('part of the name or of its service'), ...pageInput(LIMIT, LIMIT_MAX) }),
  result: Type.Object({
    dashboards: Type.Array(
      Type.Object({
        ...DashboardSummaryView.properties,
        serviceName: nullable(Type.String()),
        widgetCount: Type.Integer(),
      }),
    ),
    total: Type.Integer(),
    nextCursor: nullable(Type.String()),
  }),
  example: { text: 'checkout', cursor: nameCursorOf({ name: 'checkout', id: IDS.dashboardId }), limit: 20 },
  async handle({ text, cursor, limit = LIMIT }, { caller, stores }) {
    const { dashboards, total } = await stores.dashboards.search(caller.orgId, text?.trim() ?? '', {
      after: cursor === undefined ? null : parseNameCursor('dashboard', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(dashboards, limit, nameCursorOf);
    return {
      dashboards: shown.map(({ serviceName, widgetCount, ...dashboard }) => ({
        ...toDashboardSummaryView(dashboard),
        serviceName,
        widgetCount,
      })),
      total,
      nextCursor,
    };
  },
});
