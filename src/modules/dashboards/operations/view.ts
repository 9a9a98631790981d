import { type Static, Type } from 'typebox';

import { EXAMPLE_IDS as IDS, EXAMPLE_STAMPS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { DashboardRow, DashboardSummaryRow } from '#modules/dashboards/store.ts';

/** A widget, kept exactly as it was given, other fields included; of the five known ones only the kind is checked. */
const Widget = Type.Object(
  {
    type: Type.Optional(Type.String()),
    title: Type.Optional(Type.String()),
    query: Type.Optional(Type.Unknown()),
    options: Type.Optional(Type.Unknown()),
    grid: Type.Optional(
      Type.Object(
        {
          x: Type.Optional(Type.Number()),
          y: Type.Optional(Type.Number()),
          w: Type.Optional(Type.Number()),
          h: Type.Optional(Type.Number()),
        },
        { additionalProperties: true },
      ),
    ),
  },
  { additionalProperties: true },
);

const WIDGETS_MAX = 500;

export const Layout = Type.Array(Widget, { maxItems: WIDGETS_MAX });

const SUMMARY_FIELDS = {
  dashboardId: IdText,
  name: Type.String(),
  serviceId: nullable(IdText),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const DashboardSummaryView = Type.Object(SUMMARY_FIELDS, { description: 'without its layout' });

export const DashboardView = Type.Object({ ...SUMMARY_FIELDS, layout: Layout });

export const DASHBOARD_SUMMARY_EXAMPLE: Static<typeof DashboardSummaryView> = {
  dashboardId: IDS.dashboardId,
  name: 'Checkout at a glance',
  serviceId: IDS.serviceId,
  ...EXAMPLE_STAMPS,
};

export const DASHBOARD_EXAMPLE: Static<typeof DashboardView> = {
  ...DASHBOARD_SUMMARY_EXAMPLE,
  layout: [
    {
      type: 'timeseries',
      title: 'Time to pay',
      query: { metricName: 'http_request_duration_ms{route="/pay"}', aggregation: 'avg', windowMinutes: 60 },
      options: { unit: 'ms' },
      grid: { x: 0, y: 0, w: 8, h: 4 },
    },
  ],
};

export function toDashboardSummaryView(dashboard: DashboardSummaryRow): Static<typeof DashboardSummaryView> {
  return {
    dashboardId: dashboard.id,
    name: dashboard.name,
    serviceId: dashboard.serviceId,
    createdAt: toTimestamp(dashboard.createdAt),
    updatedAt: toTimestamp(dashboard.updatedAt),
  };
}

export function toDashboardView(dashboard: DashboardRow): Static<typeof DashboardView> {
  return { ...toDashboardSummaryView(dashboard), layout: [...dashboard.layout] };
}
