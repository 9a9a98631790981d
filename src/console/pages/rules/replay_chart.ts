import type { ChartBand, ChartSeries } from '#console/components/time_chart/chart_series.ts';
import type { ReplayedIncident, RuleHistory } from '#modules/rules/decide/replay.ts';

/** Greatest width of a chart in pixels; of more values, only the least and the greatest of each column are drawn. */
const COLUMNS_MAX = 1_000;
const BANDS_MAX = 300;

/** Returns the values as a line of at most two points a column. */
export function seriesOfHistory({ firstMs, stepMs, values }: RuleHistory, name: string): ChartSeries {
  const perColumn = Math.max(1, Math.ceil(values.length / COLUMNS_MAX));
  const kept: number[] = [];
  for (let start = 0; start < values.length; start += perColumn) {
    const least = extremeOf(values, start, perColumn, (a, b) => a < b);
    const greatest = extremeOf(values, start, perColumn, (a, b) => a > b);
    if (least === null || greatest === null) continue;
    kept.push(Math.min(least, greatest));
    if (least !== greatest) kept.push(Math.max(least, greatest));
  }
  return {
    name,
    times: kept.map((index) => firstMs + index * stepMs),
    values: kept.map((index) => values[index] ?? 0),
  };
}

function extremeOf(
  values: readonly (number | null)[],
  start: number,
  length: number,
  isBetter: (a: number, b: number) => boolean,
): number | null {
  let nearest: number | null = null;
  for (let index = start; index < Math.min(start + length, values.length); index += 1) {
    const value = values[index] ?? null;
    if (value === null) continue;
    const best = nearest === null ? null : (values[nearest] ?? null);
    if (best === null || isBetter(value, best)) nearest = index;
  }
  return nearest;
}

/** Returns the bands of times when incidents were open. Bands too close to tell apart in a chart are merged. */
export function bandsOf(incidents: readonly ReplayedIncident[], nowMs: number): ChartBand[] {
  const [first] = incidents;
  if (first === undefined) return [];
  const least = incidents.length > BANDS_MAX ? (nowMs - first.openedAt) / BANDS_MAX : 0;
  const bands: { from: number; to: number; tone: 'red' }[] = [];
  for (const { openedAt, closedAt } of incidents) {
    const last = bands.at(-1);
    const to = closedAt ?? nowMs;
    if (last !== undefined && openedAt - last.to < least) last.to = to;
    else bands.push({ from: openedAt, to, tone: 'red' });
  }
  return bands;
}
