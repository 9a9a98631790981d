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

/** Draws what is in front of the lines: markers with as many labels as fit beside each other, and the threshold. */
export function drawForeground(chart: uPlot, { markers, threshold }: Marks): void {
  const { ctx, bbox } = chart;
  ctx.save();
  clipToPlot(chart);
  const shown = markers
    .map((marker) => ({ ...marker, at: chart.valToPos(marker.at / 1_000, 'x', true) }))
    .filter(({ at }) => at >= bbox.left && at <= bbox.left + bbox.width)
    .toSorted((a, b) => a.at - b.at);
  const { labels, counts } = placeLabels(
    shown.map((marker) => ({ ...marker, at: marker.at / devicePixelRatio })),
    { left: bbox.left / devicePixelRatio, right: (bbox.left + bbox.width) / devicePixelRatio },
    (text) => textWidth(text, LABEL_FONT),
  );
  if (threshold !== null) drawThreshold(chart, threshold, labels);
  const counted = new Set(counts.flatMap(({ lines }) => lines));
  for (const [index, { at, tone }] of shown.entries()) {
    const color = toneColor(tone);
    line(ctx, color, [2, 3], [at, bbox.top], [at, bbox.top + bbox.height]);
    if (!counted.has(index)) disc(ctx, color, [at, bbox.top + 4 * devicePixelRatio], DOT_PX);
    const label = labels[index] ?? null;
    if (label === null) continue;
    const y = bbox.top + (8 + ROW_PX * label.row) * devicePixelRatio;
    writeText(ctx, label.text, { x: label.x * devicePixelRatio, y, color, at: 'middle' });
  }
  for (const { at, lines } of counts) {
    const tones = new Set(lines.map((index) => shown[index]?.tone ?? 'gray'));
    const [x, y] = [at * devicePixelRatio, bbox.top + 8 * devicePixelRatio];
    disc(ctx, toneColor(WORST_FIRST.find((tone) => tones.has(tone)) ?? 'gray'), [x, y], COUNT_PX);
    setFont(ctx, lines.length > 9 ? 7 : 9);
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    ctx.fillStyle = themeColor('--t-surface');
    // As a multiple: a bare number beside #2 would be that of an incident.
    ctx.fillText(lines.length > 99 ? '99×' : `${lines.length}×`, x, y + 0.5 * devicePixelRatio);
  }
  ctx.restore();
}

/** Tones of a mark of several markers: that of the worst. */
const WORST_FIRST: readonly ChartMarker['tone'][] = ['red', 'amber', 'blue', 'green', 'gray'];

/** Height of a threshold's label, with the gap between it and its line. */
const THRESHOLD_LABEL_PX = 18;

function drawThreshold(
  chart: uPlot,
  { value, label }: NonNullable<Marks['threshold']>,
  labels: readonly (PlacedLabel | null)[],
): void {
  const { ctx, bbox } = chart;
  const at = chart.valToPos(value, 'y', true);
  const color = themeColor('--t-red');
  line(ctx, color, [6, 4], [bbox.left, at], [bbox.left + bbox.width, at]);
  // At the left, because series end at the right; below the line where there is no room above it.
  const x = bbox.left + 6 * devicePixelRatio;
  const end = x / devicePixelRatio + textWidth(label, LABEL_FONT) + GAP_PX;
  const rows = labels.map((placed) => (placed !== null && placed.x < end ? placed.row + 1 : 0));
  const taken = Math.max(0, ...rows) * ROW_PX * devicePixelRatio;
  const isRoomAbove = at - bbox.top > taken + THRESHOLD_LABEL_PX * devicePixelRatio;
  const y = isRoomAbove ? at - 3 * devicePixelRatio : Math.max(at, bbox.top + taken) + 3 * devicePixelRatio;
  writeText(ctx, label, { x, y, color, at: isRoomAbove ? 'bottom' : 'top' });
}

function disc(ctx: CanvasRenderingContext2D, color: string, [x, y]: Point, radius: number): void {
  ctx.fillStyle = color;
  ctx.beginPath();
  ctx.arc(x, y, radius * devicePixelRatio, 0, 2 * Math.PI);
  ctx.fill();
}

function setFont(ctx: CanvasRenderingContext2D, size: number): void {
  ctx.font = LABEL_FONT.replace('11px', `${size * devicePixelRatio}px`);
}

interface Written {
  readonly x: number;
  readonly y: number;
  readonly color: string;
  readonly at: CanvasTextBaseline;
}

/** Writes text with an edge in the colour of the background, so that it can be read above lines. */
function writeText(ctx: CanvasRenderingContext2D, text: string, { x, y, color, at }: Written): void {
  setFont(ctx, 11);
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
  readonly shorter?: readonly string[];
}

interface PlacedLabel {
  readonly text: string;
  /** Row below the upper edge of the plot. */
  readonly row: 0 | 1;
  /** Position where the text begins. */
  readonly x: number;
}

/** Mark of lines that stand too close to each other for their labels: their number in a disc. */
interface PlacedCount {
  readonly at: number;
  /** Indices of the lines. */
  readonly lines: readonly number[];
}

interface Room {
  readonly left: number;
  readonly right: number;
}

/** Lines whose marks would touch each other. */
interface LineGroup extends Room {
  readonly lines: readonly number[];
  readonly at: number;
}

/** Gap between a line and its label, and between two labels. */
const GAP_PX = 7;
/** Gap between a label and the mark of another line. */
const MARK_GAP_PX = 4;
/** Greatest width of a label: a longer one would fill the plot. */
const WIDTH_MAX_PX = 160;
const ROW_PX = 15;
const DOT_PX = 3;
/** Radius of the disc with the number of lines. */
const COUNT_PX = 7;
/** Gap below which two marks are one. */
const APART_PX = 2;
const ROWS = [0, 1] as const;

/**
 * Returns the label of each line, from left to right: whole or in its longest short form that has room beside its own
 * line, in the first row or the second; null if none has. No label lies over another one, another line or the edge.
 * Lines that stand too close together for labels are counted. All positions are in CSS pixels.
 */
export function placeLabels(
  lines: readonly MarkerLine[],
  plot: Room,
  widthOf: (text: string) => number,
): { readonly labels: readonly (PlacedLabel | null)[]; readonly counts: readonly PlacedCount[] } {
  const groups = groupLines(lines, plot);
  const labels: (PlacedLabel | null)[] = lines.map(() => null);
  const counts: PlacedCount[] = [];
  /** Ends of the labels in each row so far. */
  const ends: [number, number] = [plot.left - GAP_PX, plot.left - GAP_PX];
  for (const [index, { lines: members, at }] of groups.entries()) {
    const before = groups[index - 1];
    const after = groups[index + 1];
    const isFree = (row: 0 | 1, from: number, to: number): boolean =>
      from >= Math.max(plot.left, ends[row] + GAP_PX, (before?.right ?? -Infinity) + MARK_GAP_PX) &&
      to <= Math.min(plot.right, (after?.left ?? Infinity) - MARK_GAP_PX);
    const find = (line: number, sides: readonly ('right' | 'left')[]): PlacedLabel | null => {
      const { at: lineAt, label, shorter = [] } = lines[line] ?? { at: 0, label: '' };
      for (const text of [label, ...shorter]) {
        const width = widthOf(text);
        for (const row of width <= WIDTH_MAX_PX ? ROWS : []) {
          for (const side of sides) {
            const x = side === 'right' ? lineAt + GAP_PX : lineAt - GAP_PX - width;
            if (isFree(row, x, x + width)) return { text, row, x };
          }
        }
      }
      return null;
    };
    const [first = 0, second, third] = members;
    const placed =
      second === undefined ? [find(first, ['right', 'left'])] : [find(first, ['left']), find(second, ['right'])];
    if (third === undefined && (second === undefined || !placed.includes(null))) {
      for (const [place, label] of placed.entries()) {
        labels[members[place] ?? 0] = label;
        if (label !== null) ends[label.row] = Math.max(ends[label.row], label.x + widthOf(label.text));
      }
    } else {
      counts.push({ at, lines: members });
    }
  }
  return { labels, counts };
}

/** Returns the indices of the lines whose mark, a dot or a number, is at a position; lines are sorted. */
export function linesAt(lines: readonly { readonly at: number }[], plot: Room, at: number): number[] {
  const isNear = ({ left, right }: Room): boolean => at > left - MARK_GAP_PX && at < right + MARK_GAP_PX;
  return groupLines(lines, plot).flatMap((group) => (isNear(group) ? group.lines : []));
}

/** Returns the lines from left to right, together where their marks would touch. */
function groupLines(lines: readonly { readonly at: number }[], plot: Room): LineGroup[] {
  const groups: LineGroup[] = [];
  const toGroup = (members: readonly number[]): LineGroup => {
    const [first = 0, last = 0] = [lines[members[0] ?? 0]?.at, lines[members.at(-1) ?? 0]?.at];
    if (members.length === 1) return { lines: members, at: first, left: first - DOT_PX, right: first + DOT_PX };
    const at = Math.min(Math.max((first + last) / 2, plot.left + COUNT_PX), plot.right - COUNT_PX);
    return { lines: members, at, left: Math.min(first, at - COUNT_PX), right: Math.max(last, at + COUNT_PX) };
  };
  for (const index of lines.keys()) {
    let group = toGroup([index]);
    for (
      let before = groups.at(-1);
      before !== undefined && group.left - before.right < APART_PX;
      before = groups.at(-1)
    ) {
      groups.pop();
      group = toGroup([...before.lines, ...group.lines]);
    }
    groups.push(group);
  }
  return groups;
}
