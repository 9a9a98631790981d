import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, Name, StrictObject, Timestamp } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { DASHBOARD_EXAMPLE, DashboardView, Layout, toDashboardView } from '#modules/dashboards/operations/view.ts';

export const updateDashboard = defineAction({
  name: 'update_dashboard',
  summary: 'Rename a dashboard, replace its widget layout as a whole, or both.',
  guidance: 'The layout must hold every widget that is to stay.',
  permission: 'dashboards:edit',
  effect: 'write',
  input: StrictObject({ dashboardId: IdText, name: Type.Optional(Name), layout: Type.Optional(Layout) }),
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

/** Saves a dashboard in the console: unlike `update_dashboard`, it never overwrites what its caller has not seen. */
export const saveDashboard = defineOperation({
  name: 'save_dashboard',
  summary: 'Change a dashboard, unless somebody else has changed it since it was read.',
  permission: 'dashboards:edit',
  effect: 'write',
  input: StrictObject({
    dashboardId: IdText,
    readAt: Timestamp,
    name: Type.Optional(Name),
    layout: Type.Optional(Layout),
  }),
  result: DashboardView,
  example: { readAt: DASHBOARD_EXAMPLE.updatedAt, name: 'Checkout', layout: DASHBOARD_EXAMPLE.layout },
  async handle({ dashboardId, readAt, ...fields }, { caller, stores, now, record }) {
    const before = await stores.dashboards.lock(caller.orgId, dashboardId);
    const after = { ...before, ...fields };
    if (isDeepStrictEqual(before, after)) return toDashboardView(before);
    if (toTimestamp(before.updatedAt) !== readAt) {
      throw new AppError('conflict', 'somebody else has changed this dashboard since you opened it');
    }
    // Two changes never have the same time, or the second could be taken for the first.
    const earliest = before.updatedAt.add({ milliseconds: 1 });
    const saved = { ...after, updatedAt: now.epochMilliseconds >= earliest.epochMilliseconds ? now : earliest };
    await stores.dashboards.save(saved);
    record({ target: before.id, before: toDashboardView(before), after: toDashboardView(saved) });
    return toDashboardView(saved);
  },
});
