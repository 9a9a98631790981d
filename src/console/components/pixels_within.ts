import { CHART_PIXELS_MAX } from '#core/metrics/limits.ts';

/** Widths are asked for in these steps, so that a window that is resized asks rarely. */
const WIDTH_STEP = 100;
/** What stands beside the lines of a chart: its frame, and the labels of its axis. */
const BESIDE_LINES = 120;

/** For how many pixels the lines of a chart are asked for, by the width of what surrounds it: never for more than they have. */
export function pixelsWithin(width: number): number {
  const pixels = Math.floor((width - BESIDE_LINES) / WIDTH_STEP) * WIDTH_STEP;
  return Math.min(Math.max(pixels, WIDTH_STEP), CHART_PIXELS_MAX);
}
