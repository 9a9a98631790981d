import { CHART_PIXELS_MAX } from '#core/metrics/limits.ts';
import type { ChartQuery } from '#console/api/charts.ts';
import type { Widget } from '#core/dashboards/widget.ts';

/** Widths are asked for in these steps, so that a window that is resized asks rarely. */
const WIDTH_STEP = 100;
/** A number shows its past small. */
const NUMBER_PIXELS = 100;

/** What a widget asks the server for; a query that names no service, nor does the dashboard, is left out. */
export function chartQueriesOf(widget: Widget, dashboardServiceId: string | null, width: number): ChartQuery[] {
  if (widget.kind !== 'series' && widget.kind !== 'number' && widget.kind !== 'table') return [];
  const pixels =
    widget.kind === 'series'
      ? Math.min(Math.max(Math.ceil(width / WIDTH_STEP) * WIDTH_STEP, WIDTH_STEP), CHART_PIXELS_MAX)
      : NUMBER_PIXELS;
  return widget.queries.flatMap(({ serviceId, metricName, aggregation, splitBy, top }) => {
    const service = serviceId ?? dashboardServiceId;
    if (service === null) return [];
    const split = splitBy === null || widget.kind === 'number' ? {} : { splitBy, top };
    return [{ serviceId: service, metricName, aggregation, pixels, ...split }];
  });
}
