import type { ChartQuery } from '#console/api/charts.ts';
import { pixelsWithin } from '#console/components/pixels_within.ts';
import type { Widget } from '#core/dashboards/widget.ts';

/** A number shows its past small. */
const NUMBER_PIXELS = 100;

/** What a widget asks the server for; a query that names no service, nor does the dashboard, is left out. */
export function chartQueriesOf(widget: Widget, dashboardServiceId: string | null, width: number): ChartQuery[] {
  if (widget.kind !== 'series' && widget.kind !== 'number' && widget.kind !== 'table') return [];
  const pixels = widget.kind === 'series' ? pixelsWithin(width) : NUMBER_PIXELS;
  return widget.queries.flatMap(({ serviceId, metricName, aggregation, splitBy, top }) => {
    const service = serviceId ?? dashboardServiceId;
    if (service === null) return [];
    const split = splitBy === null || widget.kind === 'number' ? {} : { splitBy, top };
    return [{ serviceId: service, metricName, aggregation, pixels, ...split }];
  });
}
