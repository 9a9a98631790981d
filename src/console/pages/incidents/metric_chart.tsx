import 'uplot/dist/uPlot.min.css';

import { Skeleton, useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

import type { Incident } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { actionQuery } from '#console/api/queries.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { WINDOW_MINUTES_MAX } from '#core/metrics/limits.ts';
import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';
import { measureOf, quantityText } from '#core/metrics/quantity.ts';

/** What was measured, as it is in the details of an incident; see `src/incidents/apply_metric_rule.ts`. */
export interface Measurement extends MetricThreshold {
  readonly value: number | null;
}

const BEFORE_MINUTES = 30;

interface MetricChartProps {
  readonly incident: Incident;
  readonly measured: Measurement;
}

/** The metric from 30 minutes before the incident until now, with the threshold. */
export function MetricChart({ incident, measured }: MetricChartProps) {
  const { org } = useOrganization();
  const { metricName, aggregation } = measured;
  const minutes = Math.ceil((serverNow() - Date.parse(incident.triggeredAt)) / 60_000) + BEFORE_MINUTES;
  // Rounded up, so that a page that stays open does not ask for a new window every minute.
  const windowMinutes = Math.min(Math.ceil(minutes / 15) * 15, WINDOW_MINUTES_MAX);
  const { data, error } = useQuery({
    ...actionQuery(org.orgId, 'services', 'query_metric', {
      serviceId: incident.serviceId,
      metricName,
      aggregation,
      windowMinutes,
    }),
    refetchInterval: incident.status === 'resolved' ? false : 30_000,
  });
  if (error !== null) return <ErrorAlert error={error} title="The metric could not be loaded" />;
  if (data === undefined) return <Skeleton height="100%" />;
  return (
    <Chart points={data.points} from={data.from} to={data.to} triggeredAt={incident.triggeredAt} measured={measured} />
  );
}

interface ChartProps {
  readonly points: readonly { readonly at: string; readonly value: number }[];
  readonly from: string;
  readonly to: string;
  readonly triggeredAt: string;
  readonly measured: Measurement;
}

function Chart({ points, from, to, triggeredAt, measured }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const { ref: sized, width, height } = useElementSize();
  const scheme = useComputedColorScheme('light');
  useEffect(() => {
    if (holder.current === null || width === 0) return;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const grid = { stroke: color('--t-line'), width: 1 };
    const axis = {
      stroke: color('--mantine-color-dimmed'),
      grid,
      ticks: { show: false },
      font: "12px 'Inter Variable'",
    };
    const seconds = (at: string) => Date.parse(at) / 1000;
    const threshold = measured.threshold;
    const unit = measureOf(measured.metricName, measured.aggregation);
    const chart = new uPlot(
      {
        width,
        height,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { y: false },
        scales: {
          x: { min: seconds(from), max: seconds(to) },
          y: { range: (_u, low, high) => rangeWith(low, high, threshold) },
        },
        axes: [
          { ...axis, values: (_u, ticks) => tickTexts(ticks) },
          { ...axis, size: 64, values: (_u, ticks) => ticks.map((tick) => quantityText(tick, unit, { digits: 6 })) },
        ],
        series: [
          {},
          { stroke: color('--t-blue'), width: 2, fill: color('--t-blue-soft'), points: { show: points.length < 3 } },
        ],
        hooks: {
          draw: [
            (drawn) => {
              line(drawn, 'y', threshold, color('--t-red'));
              label(
                drawn,
                threshold,
                `${measured.comparator} ${quantityText(threshold, unit, { digits: 6 })}`,
                color('--t-red'),
              );
              line(drawn, 'x', seconds(triggeredAt), color('--t-red'));
            },
          ],
        },
      },
      [points.map(({ at }) => seconds(at)), points.map(({ value }) => value)],
      holder.current,
    );
    return () => chart.destroy();
  }, [points, from, to, triggeredAt, measured, width, height, scheme]);
  const peak = points.reduce((max, { value }) => Math.max(max, value), Number.NEGATIVE_INFINITY);
  const format = (value: number) => quantityText(value, measureOf(measured.metricName, measured.aggregation));
  const summary =
    points.length === 0
      ? 'No points in this period.'
      : `${measured.metricName}: ${points.length} points, highest ${format(peak)}, last ${format(points.at(-1)?.value ?? 0)}; threshold ${format(measured.threshold)}.`;
  return (
    <div ref={sized} style={{ height: '100%' }} role="img" aria-label={summary}>
      <div ref={holder} />
    </div>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Times in the viewer's format, or days when ticks are at least a day apart. */
function tickTexts(epochSeconds: readonly number[]): string[] {
  const [first = 0, second = 0] = epochSeconds;
  const format = second - first >= 86_400 ? DAY : CLOCK;
  return epochSeconds.map((at) => format.format(at * 1000));
}

/** Always includes the threshold. */
function rangeWith(low: number | null, high: number | null, threshold: number): [number, number] {
  const min = Math.min(low ?? threshold, threshold, 0);
  const max = Math.max(high ?? threshold, threshold);
  const room = (max - min || 1) * 0.08;
  return [min === 0 ? 0 : min - room, max + room];
}

/** Labels the threshold line at its left, because series end at the right. */
function label(chart: uPlot, value: number, text: string, fill: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.font = `600 ${12 * devicePixelRatio}px ${getComputedStyle(document.body).fontFamily}`;
  ctx.fillStyle = fill;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'bottom';
  ctx.fillText(text, bbox.left + 6 * devicePixelRatio, chart.valToPos(value, 'y', true) - 3 * devicePixelRatio);
  ctx.restore();
}

/** A dashed line across the chart at one value. */
function line(chart: uPlot, scale: 'x' | 'y', value: number, stroke: string): void {
  const { ctx, bbox } = chart;
  const at = chart.valToPos(value, scale, true);
  ctx.save();
  ctx.beginPath();
  ctx.strokeStyle = stroke;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(
    scale === 'y' ? [6 * devicePixelRatio, 4 * devicePixelRatio] : [2 * devicePixelRatio, 3 * devicePixelRatio],
  );
  ctx.moveTo(scale === 'x' ? at : bbox.left, scale === 'x' ? bbox.top : at);
  ctx.lineTo(scale === 'x' ? at : bbox.left + bbox.width, scale === 'x' ? bbox.top + bbox.height : at);
  ctx.stroke();
  ctx.restore();
}
