import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { DashboardSummaryView, toDashboardSummaryView } from '#modules/dashboards/operations/view.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

/** Lists dashboards with paging, so that each can be reached. */
export const searchDashboards = defineAction({
  name: 'search_dashboards',
  consoleOnly: true,
  summary: 'Find dashboards page by page, by name.',
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name or of its service'),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
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
