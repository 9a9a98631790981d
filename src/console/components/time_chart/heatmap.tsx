import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import type uPlot from 'uplot';

import type { ChartResult } from '#console/api/charts.ts';
import type { Scheme } from '#console/components/time_chart/chart_texts.ts';
import type { ChartMarker, ChartSeries } from '#console/components/time_chart/chart_series.ts';
import type { PlotCells } from '#console/components/time_chart/plot.ts';
import { TimeChart } from '#console/components/time_chart/time_chart.tsx';
import classes from '#console/components/time_chart/time_chart.module.css';
import { type Measure, quantityText } from '#modules/metrics/decide/quantity.ts';

/** Colours of cells, from few observations to many: further from the background of the scheme the more there are. */
const RAMPS: Readonly<Record<Scheme, readonly string[]>> = {
  light: ['#bcd3fa', '#86abf0', '#4f80e0', '#2157ca', '#102c70'],
  dark: ['#223a6b', '#2f5cb0', '#5a8df0', '#9dbdff', '#e3edff'],
};
const COUNT: Measure = { unit: 'none', factor: 1 };
/** Height of a label of the axis, in pixels. */
const LABEL_PX = 24;

interface Row {
  readonly from: number;
  readonly to: number;
}

interface HeatmapProps {
  /** Subject of the chart, for people who do not see it. */
  readonly label: string;
  /** Answer with a series for each range of sizes. */
  readonly result: ChartResult;
  /** Start of the period, in epoch milliseconds; `to` is its end. */
  readonly from: number;
  readonly to: number;
  readonly measure: Measure;
  readonly markers: readonly ChartMarker[];
  onRange(from: number, to: number): void;
  readonly group?: string;
}

/** Chart of a histogram over time: a row for each range of sizes, darker the more observations it holds. */
export function Heatmap({ label, result, from, to, measure, markers, onRange, group }: HeatmapProps) {
  const scheme = useComputedColorScheme('light');
  const stepMs = (result.stepSeconds || 60) * 1_000;
  const unit = JSON.stringify(measure);
  const rows = useMemo(() => result.series.map(rowOf), [result]);
  const series = useMemo(() => {
    const names = rowNames(rows, measure);
    return result.series.map(({ steps, values }, place): ChartSeries => ({
      name: names[place] ?? '',
      times: steps.map((step) => result.start + step * stepMs),
      values,
    }));
  }, [result, rows, unit]);
  const levels = useMemo(() => levelsOf(series), [series]);
  const colorOf = (value: number): string => colorOfLevel(levels, value, scheme);
  const cells: PlotCells = {
    rows: rows.length,
    draw: (plot) => drawCells(plot, series, stepMs, colorOf),
    splits: (height) => splitsOf(rows.length, height),
    textAt: (edge) => edgeText(rows, edge, measure),
    colorOf,
    legend: <Legend levels={levels} scheme={scheme} />,
    key: unit,
  };
  return (
    <TimeChart
      label={label}
      series={series}
      from={from}
      to={to}
      stepMs={stepMs}
      measure={COUNT}
      markers={markers}
      onRange={onRange}
      {...(group !== undefined && { group })}
      cells={cells}
    />
  );
}

function Legend({ levels, scheme }: { readonly levels: readonly number[]; readonly scheme: Scheme }) {
  return (
    <ul className={`${classes.legend} wraps rigid`} aria-label="Observations in a cell">
      {levels.map((most, place) => {
        const least = (levels[place - 1] ?? 0) + 1;
        const text =
          least >= most ? quantityText(most, COUNT) : `${quantityText(least, COUNT)} to ${quantityText(most, COUNT)}`;
        return (
          <li key={most} className={`${classes.level} row tiny numbers`}>
            <span className={classes.cell} style={{ background: colorOfLevel(levels, most, scheme) }} />
            {text}
          </li>
        );
      })}
    </ul>
  );
}

/**
 * Returns the highest count of each level of colour. They grow with the square, as most cells hold few observations; of
 * few observations there are fewer levels.
 */
export function levelsOf(series: readonly Pick<ChartSeries, 'values'>[]): number[] {
  const most = series.reduce((max, { values }) => values.reduce((a, b) => Math.max(a, b), max), 0);
  const { length } = RAMPS.light;
  const levels = RAMPS.light.map((_, place) => Math.ceil((most * (place + 1) ** 2) / length ** 2));
  return most > 0 ? [...new Set(levels)] : [];
}

function colorOfLevel(levels: readonly number[], value: number, scheme: Scheme): string {
  const ramp = RAMPS[scheme];
  const level = levels.findIndex((most) => value <= most);
  return ramp[ramp.length - levels.length + (level === -1 ? levels.length - 1 : level)] ?? 'transparent';
}

function rowOf({ value }: ChartResult['series'][number]): Row {
  const [from = 0, to = 0] = (value ?? '').split('...').map(Number);
  return { from, to };
}

/** Returns the name of each row: with as many digits as tell them apart. */
export function rowNames(rows: readonly Row[], measure: Measure): string[] {
  const namesWith = (form: { readonly digits?: number }): string[] =>
    rows.map(({ from, to }) => {
      if (from === -Infinity) return `up to ${quantityText(to, measure, form)}`;
      if (to === Infinity) return `more than ${quantityText(from, measure, form)}`;
      return `${quantityText(from, measure, form)} to ${quantityText(to, measure, form)}`;
    });
  const names = namesWith({});
  return new Set(names).size === names.length ? names : namesWith({ digits: 9 });
}

/** Returns the edges between rows that have a label: all of them, or as many as there is room for. */
function splitsOf(rows: number, height: number): number[] {
  const each = Math.max(1, Math.ceil((rows + 1) / Math.max(2, Math.floor(height / LABEL_PX))));
  return Array.from({ length: rows + 1 }, (_, edge) => edge).filter((edge) => edge % each === 0);
}

function edgeText(rows: readonly Row[], edge: number, measure: Measure): string {
  const bound = rows[edge]?.from ?? rows[edge - 1]?.to ?? Infinity;
  return Number.isFinite(bound) ? quantityText(bound, measure) : '';
}

function drawCells(
  plot: uPlot,
  series: readonly ChartSeries[],
  stepMs: number,
  colorOf: (value: number) => string,
): void {
  const { ctx, bbox } = plot;
  const right = bbox.left + bbox.width;
  ctx.save();
  for (const [row, { times, values }] of series.entries()) {
    const bottom = Math.round(plot.valToPos(row, 'y', true));
    const top = Math.round(plot.valToPos(row + 1, 'y', true));
    for (const [place, at] of times.entries()) {
      const from = Math.max(bbox.left, Math.round(plot.valToPos(at / 1_000, 'x', true)));
      const to = Math.min(right, Math.round(plot.valToPos((at + stepMs) / 1_000, 'x', true)));
      ctx.fillStyle = colorOf(values[place] ?? 0);
      if (to > from) ctx.fillRect(from, top, Math.max(1, to - from - 1), Math.max(1, bottom - top - 1));
    }
  }
  ctx.restore();
}
