import { CHART_PIXELS_MAX } from '#modules/metrics/decide/limits.ts';

/** Step of the requested widths, so that resizing a window sends few requests. */
const WIDTH_STEP = 100;
/** Width of what surrounds the lines of a chart: its frame, and the labels of its axis. */
const BESIDE_LINES = 120;

/** Returns the pixels to request for the lines of a chart, by the width of its container: at most their own. */
export function pixelsWithin(width: number): number {
  const pixels = Math.floor((width - BESIDE_LINES) / WIDTH_STEP) * WIDTH_STEP;
  return Math.min(Math.max(pixels, WIDTH_STEP), CHART_PIXELS_MAX);
}
