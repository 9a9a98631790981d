import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { DashboardSummaryView, toDashboardSummaryView } from '#actions/dashboards/view.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { CLOSED, nullable } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { DashboardPlace } from '#storage/postgres/dashboard_store.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

/** However many dashboards there are, none is out of reach. */
export const searchDashboards = defineAction({
  name: 'search_dashboards',
  consoleOnly: true,
  summary: 'Find dashboards page by page, by name.',
  permission: 'dashboards:view',
  effect: 'read',
  input: Type.Object(
    {
      text: Type.Optional(Type.String({ maxLength: 200, description: 'part of the name or of its service' })),
      cursor: Type.Optional(Type.String({ description: 'the nextCursor of the page before' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: `${LIMIT} when left out` })),
    },
    CLOSED,
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
  example: { text: 'checkout', cursor: cursorOf({ name: 'checkout', id: IDS.dashboardId }), limit: 20 },
  async handle({ text, cursor, limit = LIMIT }, { caller, stores }) {
    const { dashboards, total } = await stores.dashboards.search(caller.orgId, text?.trim() ?? '', {
      after: cursor === undefined ? null : parseCursor(cursor),
      limit: limit + 1,
    });
    const shown = dashboards.slice(0, limit);
    const last = dashboards.length > limit ? shown.at(-1) : undefined;
    return {
      dashboards: shown.map(({ serviceName, widgetCount, ...dashboard }) => ({
        ...toDashboardSummaryView(dashboard),
        serviceName,
        widgetCount,
      })),
      total,
      nextCursor: last === undefined ? null : cursorOf(last),
    };
  },
});

function cursorOf({ name, id }: DashboardPlace): string {
  return Buffer.from(`${id} ${name}`).toString('base64url');
}

function parseCursor(cursor: string): DashboardPlace {
  const [, id, name] = /^(dashboard_\w{26}) (.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (id === undefined || name === undefined || name.includes('\0')) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { name, id };
}
