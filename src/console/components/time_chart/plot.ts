import 'uplot/dist/uPlot.min.css';

import type { ReactNode } from 'react';
import uPlot from 'uplot';

import { type ChartColumns, type ChartSeries, yRangeOf } from '#console/components/time_chart/chart_series.ts';
import {
  CHART_FONT,
  lineStyle,
  type Scheme,
  textWidth,
  themeColor,
  tickTexts,
} from '#console/components/time_chart/chart_texts.ts';
import { drawBehind, drawForeground, type Marks } from '#console/components/time_chart/draw_marks.ts';
import type { ChartLook } from '#modules/dashboards/decide/widget.ts';
import { type Measure, quantityText } from '#modules/metrics/decide/quantity.ts';

/** Content of the plot; read anew for each drawing, so that a change needs no new plot. */
export interface PlotState {
  readonly from: number;
  readonly to: number;
  readonly marks: Marks;
  readonly measure: Measure;
  /** Range held while the threshold is dragged, so that the axis does not move under the finger. */
  readonly heldRange: readonly [number, number] | null;
}

/** Plotting area within the chart, in CSS pixels, and the values at its edges. */
export interface PlotArea {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly min: number;
  readonly max: number;
}

/** Cells drawn in place of lines: a row for each series, the first at the bottom. */
export interface PlotCells {
  readonly rows: number;
  draw(plot: uPlot): void;
  /** Returns the edges between rows that bear a label on an axis of so many pixels. */
  splits(height: number): number[];
  textAt(edge: number): string;
  colorOf(value: number): string;
  readonly legend: ReactNode;
  /** Changes with the labels. */
  readonly key: string;
}

interface PlotOptions {
  readonly holder: HTMLElement;
  readonly size: { readonly width: number; readonly height: number };
  readonly series: readonly ChartSeries[];
  readonly columns: ChartColumns;
  readonly scheme: Scheme;
  /** Group of charts that share their cursor. */
  readonly group: string | undefined;
  readonly mayZoom: boolean;
  readonly look: ChartLook;
  /** Returns the cells to draw; undefined for lines. */
  cells(): PlotCells | undefined;
  state(): PlotState;
  onArea(area: PlotArea): void;
  onCursor(left: number | null): void;
  onSelect(fromMs: number, toMs: number): void;
}

const AXIS_GAP = 8;
const DRAG_MIN = 6;
const RIGHT_PADDING = 14;

/** Creates the plot; the caller destroys it. */
export function createPlot(options: PlotOptions): uPlot {
  const {
    holder,
    size,
    series,
    columns,
    scheme,
    group,
    mayZoom,
    look: form,
    cells,
    state,
    onArea,
    onCursor,
    onSelect,
  } = options;
  const line = themeColor('--t-line');
  const axis = {
    stroke: themeColor('--mantine-color-dimmed'),
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    font: CHART_FONT,
    gap: AXIS_GAP,
  };
  const isAlone = series.length === 1;
  const hasCells = cells() !== undefined;
  const isFromZero = form !== 'lines';
  return new uPlot(
    {
      ...size,
      padding: [10, RIGHT_PADDING, 0, 4],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { x: mayZoom, y: false, setScale: false, dist: DRAG_MIN },
        points: { size: 8, width: 2, show: !hasCells },
        ...(group !== undefined && {
          sync: {
            key: group,
            setSeries: false,
            scales: ['x', null] as [string, null],
            // The cursor alone: a selection belongs to its own chart.
            filters: { pub: isCursorEvent, sub: isCursorEvent },
          },
        }),
      },
      scales: {
        x: { range: () => [state().from / 1_000, state().to / 1_000] },
        y: {
          range(_plot, low, high) {
            const { heldRange, marks } = state();
            if (hasCells) return [0, cells()?.rows || 1];
            if (heldRange !== null) return [...heldRange];
            const least = isFromZero ? Math.min(low ?? 0, 0) : low;
            return yRangeOf(least, high, marks.threshold?.value ?? null);
          },
        },
      },
      axes: [
        {
          ...axis,
          size: 28,
          space: (plot) => widthOfTick(plot),
          values: (plot, ticks) => uncutTexts(plot, ticks, state()),
        },
        {
          ...axis,
          space: 34,
          size: (_plot, texts: string[] | null) => Math.ceil(longest(texts ?? []) + AXIS_GAP + 6),
          ...(hasCells
            ? {
                splits: ({ bbox }) => cells()?.splits(bbox.height / devicePixelRatio) ?? [],
                values: (_plot, ticks) => ticks.map((tick) => cells()?.textAt(tick) ?? ''),
              }
            : { values: (_plot, ticks) => ticks.map((tick) => quantityText(tick, state().measure, { digits: 6 })) }),
        },
      ],
      series: [
        {},
        ...series.map(({ isFaint = false, look, values }, index): uPlot.Series => {
          const { color, dash } = lineStyle(look ?? index, scheme);
          return {
            stroke: color,
            width: isFaint ? 1.25 : 1.75,
            alpha: isFaint ? 0.65 : 1,
            dash: isFaint ? [4, 4] : [...dash],
            spanGaps: false,
            points: { show: values.length < 3 && !hasCells, size: 6 },
            ...(hasCells && { paths: () => null }),
            ...(form === 'bars' &&
              uPlot.paths.bars && { paths: uPlot.paths.bars({ size: [0.8, 48] }), fill: `${color}8c` }),
            ...(form === 'stacked' && { fill: `${color}59` }),
            ...(isAlone &&
              form === 'lines' && {
                fill: (plot: uPlot) => (plot.scales['y']?.min === 0 ? `${color}1c` : 'transparent'),
              }),
          };
        }),
      ],
      ...(form === 'stacked' && {
        bands: series.slice(1).map((_, index) => ({ series: [index + 2, index + 1] as [number, number] })),
      }),
      hooks: {
        drawClear: [(plot) => drawBehind(plot, state().marks)],
        draw: [
          (plot) => {
            cells()?.draw(plot);
            drawForeground(plot, state().marks);
            const { bbox, scales } = plot;
            onArea({
              left: bbox.left / devicePixelRatio,
              top: bbox.top / devicePixelRatio,
              width: bbox.width / devicePixelRatio,
              height: bbox.height / devicePixelRatio,
              min: scales['y']?.min ?? 0,
              max: scales['y']?.max ?? 1,
            });
          },
        ],
        setCursor: [({ cursor }) => onCursor(cursor.left === undefined || cursor.left < 0 ? null : cursor.left)],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < DRAG_MIN) return;
            const at = (x: number) => Math.round(plot.posToVal(x, 'x') * 1_000);
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            onSelect(at(left), at(left + width));
          },
        ],
      },
    },
    columns,
    holder,
  );
}

/** Returns the texts of the time axis, without one that would be cut at the right edge. */
function uncutTexts({ bbox }: uPlot, ticks: readonly number[], { from, to }: PlotState): string[] {
  const width = bbox.width / devicePixelRatio;
  const texts = tickTexts(ticks);
  return ticks.map((tick, index) => {
    const text = texts[index] ?? '';
    const center = ((tick * 1_000 - from) / (to - from)) * width;
    return center + textWidth(text) / 2 > width + RIGHT_PADDING ? '' : text;
  });
}

const isCursorEvent = (type: string): boolean => type === 'mousemove' || type === 'mouseleave';

function longest(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, textWidth(text)), 0);
}

/** Returns the room for a label such as `11:45 PM`, with seconds where ticks are that close. */
function widthOfTick({ scales }: uPlot): number {
  const span = (scales['x']?.max ?? 0) - (scales['x']?.min ?? 0);
  const [sample = ''] = tickTexts(span < 600 ? [82_799, 82_800] : [82_740, 82_800]);
  return textWidth(sample) + 24;
}
