import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';

import { lazyPart } from '#console/components/lazy_part.tsx';
import { ChartLegend, CursorValues, valuesAt, valuesText } from '#console/components/time_chart/chart_legend.tsx';
import {
  type ChartBand,
  type ChartMarker,
  type ChartSeries,
  stackColumns,
  summaryOf,
  toColumns,
  usualDistance,
} from '#console/components/time_chart/chart_series.ts';
import { linesAt } from '#console/components/time_chart/draw_marks.ts';
import { inTurn } from '#console/components/time_chart/in_turn.ts';
import { createPlot, type PlotArea, type PlotCells, type PlotState } from '#console/components/time_chart/plot.ts';
import classes from '#console/components/time_chart/time_chart.module.css';
import type { TraceDot } from './trace_dots.tsx';
import type { ChartLook } from '#modules/dashboards/decide/widget.ts';
import type { Comparator } from '#modules/rules/decide/kind_settings.ts';
import { type Measure, quantityText } from '#modules/metrics/decide/quantity.ts';

const ChartTable = lazyPart(() => import('#console/components/time_chart/chart_table.tsx').then((m) => m.ChartTable));

const ThresholdHandle = lazyPart(() =>
  import('#console/components/time_chart/threshold_handle.tsx').then((m) => m.ThresholdHandle),
);

const TraceDots = lazyPart(() => import('#console/components/time_chart/trace_dots.tsx').then((m) => m.TraceDots));

interface TimeChartProps {
  /** Subject of the chart, for people who do not see it. */
  readonly label: string;
  readonly series: readonly ChartSeries[];
  /** Start of the period, in epoch milliseconds; `to` is its end. */
  readonly from: number;
  readonly to: number;
  /** The width of a bucket. */
  readonly stepMs: number;
  readonly measure: Measure;
  readonly threshold?: { readonly comparator?: Comparator; readonly value: number } | undefined;
  /** Called with each value of a moving threshold; makes it a slider, for the mouse, a finger and the arrow keys. */
  readonly onThreshold?: ((value: number) => void) | undefined;
  readonly markers?: readonly ChartMarker[];
  readonly bands?: readonly ChartBand[];
  /** Called with a new period; lets people zoom by dragging, or by the keys + and -. */
  readonly onRange?: ((from: number, to: number) => void) | undefined;
  /** Group of charts that share their cursor. */
  readonly group?: string;
  readonly hasLegend?: boolean;
  /** Form of the lines; as bars, or as areas that stand on each other. */
  readonly look?: ChartLook;
  /** Cells of a heatmap, drawn in place of lines. */
  readonly cells?: PlotCells;
  /** Single observations with their traces. */
  readonly traces?: { readonly dots: readonly TraceDot[]; readonly isAtValue: boolean } | undefined;
}

const NO_MARKERS: readonly ChartMarker[] = [];
const NO_BANDS: readonly ChartBand[] = [];
/** Number of steps of the arrow keys in the period; page keys move ten steps. */
const KEY_STEPS = 100;

/**
 * Chart of values over time. It fills its parent, which has a height of its own, so that nothing moves when data
 * arrives. The cursor follows the mouse, a finger or the arrow keys; a dialog holds the same values as a table.
 */
export function TimeChart(props: TimeChartProps) {
  const { label, series, from, to, stepMs, measure, threshold, onThreshold, onRange, group, traces, cells } = props;
  const {
    markers = NO_MARKERS,
    bands = NO_BANDS,
    hasLegend = series.length > 1 && props.cells === undefined,
    look = 'lines',
  } = props;
  const scheme = useComputedColorScheme('light');
  const { ref: sized, width, height } = useElementSize();
  const holder = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const isActive = useRef(false);
  const [area, setArea] = useState<PlotArea | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const [heldRange, setHeldRange] = useState<readonly [number, number] | null>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [isTableOpen, setIsTableOpen] = useState(false);

  const shown = useMemo(() => series.filter(({ name }) => !hidden.has(name)), [series, hidden]);
  const columns = useMemo(() => {
    const [times, ...values] = toColumns(series, stepMs);
    const plain = toPlotColumns(times, values, from, to);
    if (look !== 'stacked') return plain;
    const [plotTimes, ...lines] = plain;
    // What is hidden carries nothing.
    const shownLines = lines.map((line, place) =>
      hidden.has(series[place]?.name ?? '') ? line.map(() => undefined) : line,
    );
    return stackColumns([plotTimes, ...shownLines]);
  }, [series, stepMs, from, to, look, hidden]);
  const unit = JSON.stringify(measure);
  const openValues = useMemo(() => new Set(series.flatMap((line) => [...(line.openValues ?? [])])), [series]);
  const valueText = useCallback(
    (value: number): string => `${openValues.has(value) ? 'more than ' : ''}${quantityText(value, measure)}`,
    [unit, openValues],
  );
  const thresholdText =
    threshold === undefined
      ? null
      : `${threshold.comparator ?? ''} ${quantityText(threshold.value, measure, { digits: 6 })}`.trim();
  const summary = useMemo(() => summaryOf(shown, valueText, thresholdText), [shown, valueText, thresholdText]);
  const reach = useMemo(() => {
    const distance = Math.max(stepMs, ...shown.map(({ times }) => usualDistance(times, stepMs)));
    return Number.isFinite(distance) ? distance * 1.5 : stepMs;
  }, [shown, stepMs]);
  const marks = {
    markers,
    bands,
    threshold:
      threshold === undefined || thresholdText === null
        ? null
        : {
            value: threshold.value,
            label: thresholdText,
            isAbove: threshold.comparator === undefined ? null : threshold.comparator.startsWith('>'),
          },
  };
  const state: PlotState = { from, to, marks, measure, heldRange };
  const latest = useRef({ state, onRange, series, columns, hidden, width, height, cells });
  // This effect must run before those that draw.
  useEffect(() => {
    latest.current = { state, onRange, series, columns, hidden, width, height, cells };
  });

  // Changes of these need a new plot; the existing one draws everything else again.
  const looks = useMemo(
    () => JSON.stringify([look, ...series.map((line) => [line.name, line.isFaint, line.look, line.values.length < 3])]),
    [series, look],
  );
  const isSized = width > 0 && height > 0;
  useEffect(() => {
    const parent = holder.current;
    if (parent === null || !isSized) return;
    const cancel = inTurn(() => {
      const now = latest.current;
      const created = createPlot({
        holder: parent,
        size: { width: now.width, height: now.height },
        series: now.series,
        columns: now.columns,
        scheme,
        group,
        mayZoom: now.onRange !== undefined,
        look,
        cells: () => latest.current.cells,
        state: () => latest.current.state,
        onArea: (next) => setArea((before) => (isSameArea(before, next) ? before : next)),
        onCursor: (left) => setCursor(isActive.current ? left : null),
        onSelect: (start, end) => latest.current.onRange?.(start, end),
      });
      plot.current = created;
      for (const [index, { name }] of now.series.entries()) {
        if (now.hidden.has(name)) created.setSeries(index + 1, { show: false });
      }
    });
    return () => {
      cancel();
      plot.current?.destroy();
      plot.current = null;
    };
    // Data, size and marks change the existing plot.
  }, [looks, scheme, group, isSized, onRange === undefined]);
  useEffect(() => {
    const chart = plot.current;
    if (isSized && chart !== null && (chart.width !== width || chart.height !== height)) {
      chart.setSize({ width, height });
    }
  }, [isSized, width, height]);
  const markText = useMemo(() => JSON.stringify([markers, bands]), [markers, bands]);
  const drawn = `${markText} ${JSON.stringify([marks.threshold, heldRange])} ${unit} ${cells?.key ?? ''}`;
  const lastDrawn = useRef({ columns, drawn });
  useEffect(() => {
    if (lastDrawn.current.columns !== columns || lastDrawn.current.drawn !== drawn) plot.current?.setData(columns);
    lastDrawn.current = { columns, drawn };
  }, [columns, drawn]);

  const moveTo = (left: number | null): void => {
    const chart = plot.current;
    if (chart === null) return;
    const to = { left: left ?? -10, top: left === null ? -10 : 10 };
    chart.setCursor(to);
    if (group === undefined) return;
    const { clientWidth, clientHeight } = chart.over;
    uPlot.sync(group).pub('mousemove', chart, to.left, to.top, clientWidth, clientHeight, chart.cursor.idx ?? -1);
  };
  const at = cursor === null || area === null ? null : from + (cursor / area.width) * (to - from);
  // The cell that holds a time began up to a step before it.
  const half = cells === undefined ? 0 : stepMs / 2;
  const values = at === null ? [] : valuesAt(shown, at - half, half || reach);
  const near = cursor === null || area === null ? [] : markersAt(cursor, area.width);

  function markersAt(left: number, width: number): readonly ChartMarker[] {
    const lines = markers
      .map((marker) => ({ marker, at: ((marker.at - from) / (to - from)) * width }))
      .filter((line) => line.at >= 0 && line.at <= width)
      .toSorted((a, b) => a.at - b.at);
    return linesAt(lines, { left: 0, right: width }, left).flatMap((index) => lines[index]?.marker ?? []);
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    if (area === null) return;
    const next = nextByKey(event.key, cursor ?? area.width, area.width);
    if (next !== undefined) {
      event.preventDefault();
      moveTo(next);
    } else if ((event.key === '+' || event.key === '-') && onRange !== undefined) {
      event.preventDefault();
      const middle = at ?? (from + to) / 2;
      const half = ((to - from) / 2) * (event.key === '+' ? 0.5 : 2);
      onRange(Math.round(middle - half), Math.round(Math.min(middle + half, Math.max(to, Date.now()))));
    }
  };
  const onTouch = ({ pointerType, clientX }: PointerEvent): void => {
    const chart = plot.current;
    if (pointerType !== 'touch' || chart === null) return;
    const { left, width: wide } = chart.over.getBoundingClientRect();
    moveTo(Math.min(Math.max(clientX - left, 0), wide));
  };
  const toggle = useCallback((name: string): void => {
    const next = new Set(latest.current.hidden);
    if (!next.delete(name)) next.add(name);
    setHidden(next);
    const index = latest.current.series.findIndex((line) => line.name === name);
    plot.current?.setSeries(index + 1, { show: !next.has(name) });
  }, []);
  const focus = useCallback((name: string | null): void => {
    const index = name === null ? -1 : latest.current.series.findIndex((line) => line.name === name);
    plot.current?.setSeries(index === -1 ? null : index + 1, { focus: true });
  }, []);
  const setActive = (active: boolean): void => {
    isActive.current = active;
    if (!active) moveTo(null);
  };

  return (
    <figure className={`${classes.chart} flush shrinks`} aria-label={label}>
      <p className="hidden-text">{summary}</p>
      <div
        className={classes.plot}
        ref={sized}
        role="slider"
        tabIndex={0}
        aria-label={`Time in ${label}`}
        aria-valuemin={from}
        aria-valuemax={to}
        aria-valuenow={Math.round(at ?? to)}
        aria-valuetext={
          at === null ? 'Press the arrow keys to read values' : valuesText(values, at, stepMs, valueText, near)
        }
        onKeyDown={onKeyDown}
        onFocus={() => {
          isActive.current = true;
        }}
        onBlur={() => setActive(false)}
        onPointerEnter={() => {
          isActive.current = true;
        }}
        onPointerLeave={({ pointerType }) => {
          if (pointerType !== 'touch') setActive(false);
        }}
        onPointerDown={onTouch}
        onPointerMove={onTouch}
      >
        <div ref={holder} aria-hidden />
        {traces !== undefined && traces.dots.length > 0 && area !== null && (
          <TraceDots {...traces} area={area} from={from} to={to} valueText={valueText} />
        )}
        {cursor !== null && at !== null && area !== null && (
          <CursorValues
            left={area.left + cursor}
            width={width}
            at={values[0]?.at ?? at}
            stepMs={stepMs}
            values={values}
            markers={near}
            styleOf={(name) => styleOf(series, name)}
            scheme={scheme}
            valueText={valueText}
            colorOf={cells?.colorOf}
          />
        )}
      </div>
      {cells?.legend}
      {threshold !== undefined && onThreshold !== undefined && area !== null && (
        <ThresholdHandle
          area={area}
          value={threshold.value}
          text={thresholdText ?? ''}
          onChange={onThreshold}
          onHold={(isHeld) => setHeldRange(isHeld ? [area.min, area.max] : null)}
        />
      )}
      {hasLegend && (
        <ChartLegend
          series={series}
          hidden={hidden}
          scheme={scheme}
          valueText={valueText}
          onToggle={toggle}
          onFocus={focus}
        />
      )}
      <button type="button" className={classes.tableButton} onClick={() => setIsTableOpen(true)}>
        Show as a table
      </button>
      {isTableOpen && (
        <ChartTable
          title={label}
          series={shown}
          stepMs={stepMs}
          valueText={valueText}
          onClose={() => setIsTableOpen(false)}
        />
      )}
    </figure>
  );
}

function styleOf(series: readonly ChartSeries[], name: string): { readonly index: number; readonly isFaint: boolean } {
  const place = series.findIndex((line) => line.name === name);
  return { index: series[place]?.look ?? place, isFaint: series[place]?.isFaint ?? false };
}

/** Adds the edges of the period to the columns, so that an empty plot has an axis, too. */
function toPlotColumns(
  times: number[],
  values: (number | null | undefined)[][],
  from: number,
  to: number,
): [number[], ...(number | null | undefined)[][]] {
  const [first = to / 1_000, last = from / 1_000] = [times[0], times.at(-1)];
  const before = first > from / 1_000 ? [from / 1_000] : [];
  const after = last < to / 1_000 ? [to / 1_000] : [];
  const blank = (edge: readonly number[]): undefined[] => edge.map(() => undefined);
  return [[...before, ...times, ...after], ...values.map((column) => [...blank(before), ...column, ...blank(after)])];
}

function isSameArea(before: PlotArea | null, next: PlotArea): boolean {
  return (
    before !== null &&
    before.left === next.left &&
    before.top === next.top &&
    before.width === next.width &&
    before.height === next.height &&
    before.min === next.min &&
    before.max === next.max
  );
}

/** Returns the next position of the cursor; null hides it, undefined means that the key does not move the cursor. */
function nextByKey(key: string, left: number, width: number): number | null | undefined {
  const step = width / KEY_STEPS;
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: left - step,
    ArrowRight: left + step,
    PageUp: left - 10 * step,
    PageDown: left + 10 * step,
    Home: 0,
    End: width,
  };
  if (key === 'Escape') return null;
  const next = moves[key];
  return next === undefined ? undefined : Math.min(Math.max(next, 0), width);
}
