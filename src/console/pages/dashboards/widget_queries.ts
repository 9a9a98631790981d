import type { ChartQuery } from '#console/api/charts.ts';
import { pixelsWithin } from '#console/components/pixels_within.ts';
import type { Widget } from '#modules/dashboards/decide/widget.ts';

/** Width of a number's chart in pixels: it shows its past small. */
const NUMBER_PIXELS = 100;

/** Returns the queries of a widget; a query without a service is left out if the dashboard has none either. */
export function chartQueriesOf(widget: Widget, dashboardServiceId: string | null, width: number): ChartQuery[] {
  if (widget.kind !== 'series' && widget.kind !== 'number' && widget.kind !== 'table') return [];
  const pixels = widget.kind === 'series' ? pixelsWithin(width) : NUMBER_PIXELS;
  return widget.queries.flatMap(({ serviceId, metricName, aggregation, isRate, splitBy, top }) => {
    const service = serviceId ?? dashboardServiceId;
    if (service === null) return [];
    const split = splitBy === null || widget.kind === 'number' ? {} : { splitBy, top };
    return [{ serviceId: service, metricName, aggregation, ...(isRate && { isRate }), pixels, ...split }];
  });
}
