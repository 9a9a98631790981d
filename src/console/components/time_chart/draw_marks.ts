import type uPlot from 'uplot';

import type { ChartBand, ChartMarker } from '#console/components/time_chart/chart_series.ts';
import { textWidth, themeColor, toneColor } from '#console/components/time_chart/chart_texts.ts';

export interface Marks {
  readonly markers: readonly ChartMarker[];
  readonly bands: readonly ChartBand[];
  readonly threshold: { readonly value: number; readonly label: string; readonly isAbove: boolean | null } | null;
}

const LABEL_FONT = "560 11px 'Inter Variable', sans-serif";

/** Draws what is behind the lines: bands, and the side of the threshold on which a rule fires. */
export function drawBehind(chart: uPlot, { bands, threshold }: Marks): void {
  const { ctx, bbox } = chart;
  ctx.save();
  clipToPlot(chart);
  for (const { from, to, tone } of bands) {
    const left = chart.valToPos(from / 1_000, 'x', true);
    const width = Math.max(chart.valToPos(to / 1_000, 'x', true) - left, 2 * devicePixelRatio);
    ctx.globalAlpha = 0.12;
    ctx.fillStyle = toneColor(tone);
    ctx.fillRect(left, bbox.top, width, bbox.height);
    ctx.globalAlpha = 0.8;
    ctx.fillRect(left, bbox.top + bbox.height - 3 * devicePixelRatio, width, 3 * devicePixelRatio);
  }
  if (threshold !== null && threshold.isAbove !== null) {
    const at = chart.valToPos(threshold.value, 'y', true);
    ctx.globalAlpha = 0.06;
    ctx.fillStyle = themeColor('--t-red');
    if (threshold.isAbove) ctx.fillRect(bbox.left, bbox.top, bbox.width, at - bbox.top);
    else ctx.fillRect(bbox.left, at, bbox.width, bbox.top + bbox.height - at);
  }
  ctx.restore();
}

/** Draws what is in front of the lines: the threshold, and markers with as many labels as fit beside each other. */
export function drawForeground(chart: uPlot, { markers, threshold }: Marks): void {
  const { ctx, bbox } = chart;
  ctx.save();
  clipToPlot(chart);
  if (threshold !== null) drawThreshold(chart, threshold);
  const shown = markers
    .map((marker) => ({ ...marker, at: chart.valToPos(marker.at / 1_000, 'x', true) }))
    .filter(({ at }) => at >= bbox.left && at <= bbox.left + bbox.width)
    .toSorted((a, b) => a.at - b.at);
  for (const { at, tone } of shown) {
    const color = toneColor(tone);
    line(ctx, color, [2, 3], [at, bbox.top], [at, bbox.top + bbox.height]);
    ctx.fillStyle = color;
    ctx.beginPath();
    ctx.arc(at, bbox.top + 4 * devicePixelRatio, 3 * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
  }
  const labels = placeLabels(
    shown.map(({ at, label }) => ({ at: at / devicePixelRatio, label })),
    { left: bbox.left / devicePixelRatio, right: (bbox.left + bbox.width) / devicePixelRatio },
    (text) => textWidth(text, LABEL_FONT),
  );
  for (const [index, label] of labels.entries()) {
    if (label === null) continue;
    const color = toneColor(shown[index]?.tone ?? 'gray');
    const y = bbox.top + (8 + ROW_PX * label.row) * devicePixelRatio;
    writeText(ctx, label.text, { x: label.x * devicePixelRatio, y, color, at: 'middle' });
  }
  ctx.restore();
}

function drawThreshold(chart: uPlot, { value, label }: NonNullable<Marks['threshold']>): void {
  const { ctx, bbox } = chart;
  const at = chart.valToPos(value, 'y', true);
  const color = themeColor('--t-red');
  line(ctx, color, [6, 4], [bbox.left, at], [bbox.left + bbox.width, at]);
  // At the left, because series end at the right; below the line where there is no room above it.
  const isRoomAbove = at - bbox.top > 18 * devicePixelRatio;
  const y = at + (isRoomAbove ? -3 : 3) * devicePixelRatio;
  const x = bbox.left + 6 * devicePixelRatio;
  writeText(ctx, label, { x, y, color, at: isRoomAbove ? 'bottom' : 'top' });
}

interface Written {
  readonly x: number;
  readonly y: number;
  readonly color: string;
  readonly at: CanvasTextBaseline;
}

/** Writes text with an edge in the colour of the background, so that it can be read above lines. */
function writeText(ctx: CanvasRenderingContext2D, text: string, { x, y, color, at }: Written): void {
  ctx.font = LABEL_FONT.replace('11px', `${11 * devicePixelRatio}px`);
  ctx.textAlign = 'left';
  ctx.textBaseline = at;
  ctx.lineJoin = 'round';
  ctx.setLineDash([]);
  ctx.lineWidth = 3 * devicePixelRatio;
  ctx.strokeStyle = themeColor('--t-surface');
  ctx.strokeText(text, x, y);
  ctx.fillStyle = color;
  ctx.fillText(text, x, y);
}

type Point = readonly [x: number, y: number];

function line(ctx: CanvasRenderingContext2D, color: string, dash: readonly number[], from: Point, to: Point): void {
  ctx.beginPath();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((length) => length * devicePixelRatio));
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

function clipToPlot({ ctx, bbox }: uPlot): void {
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
}

/** Line of a marker on the plot, in pixels from the left. */
interface MarkerLine {
  readonly at: number;
  readonly label: string;
}

interface PlacedLabel {
  readonly text: string;
  /** Row below the upper edge of the plot. */
  readonly row: 0 | 1;
  /** Position where the text begins. */
  readonly x: number;
}

interface Room {
  readonly left: number;
  readonly right: number;
}

/** Gap between a line and its label, and behind the label. */
const GAP_PX = 7;
/** Greatest width of a label; of a longer one only the beginning is written. */
const WIDTH_MAX_PX = 120;
const ROW_PX = 15;
/** Smallest width of a label: nothing narrower can be read. */
const WIDTH_MIN_PX = 34;

/**
 * Returns the label of each line, from left to right: beside its own line and over no other one; where it does not fit,
 * in a second row, which may pass over other lines; shortened if there is no room there either, and null if nothing
 * could be read. All positions are in CSS pixels.
 */
export function placeLabels(
  lines: readonly MarkerLine[],
  plot: Room,
  widthOf: (text: string) => number,
): (PlacedLabel | null)[] {
  /** Ends of the labels in each row so far. */
  const ends: [number, number] = [plot.left, plot.left];
  return lines.map(({ at, label }, index) => {
    const wanted = Math.min(widthOf(label), WIDTH_MAX_PX);
    const first = {
      right: Math.min(lines[index + 1]?.at ?? plot.right, plot.right) - at - 2 * GAP_PX,
      left: at - Math.max(lines[index - 1]?.at ?? plot.left, ends[0]) - 2 * GAP_PX,
    };
    const second = { right: at < ends[1] ? 0 : plot.right - at - 2 * GAP_PX, left: at - ends[1] - 2 * GAP_PX };
    const fits = ({ left, right }: Room): boolean => wanted <= Math.max(left, right);
    const row = !fits(first) && fits(second) ? 1 : 0;
    const { left, right } = row === 1 ? second : first;
    const isRight = wanted <= right || (wanted > left && right >= left);
    const text = cutText(label, Math.min(WIDTH_MAX_PX, isRight ? right : left), widthOf);
    if (text === null) return null;
    const width = widthOf(text);
    ends[row] = isRight ? at + GAP_PX + width : Math.max(ends[row], at - GAP_PX);
    return { text, row, x: isRight ? at + GAP_PX : at - GAP_PX - width };
  });
}

function cutText(text: string, room: number, widthOf: (text: string) => number): string | null {
  if (widthOf(text) <= room) return text;
  if (room < WIDTH_MIN_PX) return null;
  let shown = text.slice(0, 40);
  while (shown.length > 1 && widthOf(`${shown}…`) > room) shown = shown.slice(0, -1);
  return `${shown.trimEnd()}…`;
}
