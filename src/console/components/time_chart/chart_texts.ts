import { dateFormat } from '#console/components/text/time_text.ts';

const CLOCK = dateFormat({ hour: 'numeric', minute: '2-digit' });
const CLOCK_SECONDS = dateFormat({ hour: 'numeric', minute: '2-digit', second: '2-digit' });
const DAY = dateFormat({ month: 'short', day: 'numeric' });
const DAY_CLOCK = dateFormat({ weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });
const DAY_SECONDS = dateFormat({
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
});

const DAY_S = 86_400;

/**
 * Formats the times of ticks for the viewer: with the day where it changes, days alone if ticks are a day apart or
 * more.
 */
export function tickTexts(epochSeconds: readonly number[]): string[] {
  const [first = 0, second = 0] = epochSeconds;
  const distance = second - first;
  if (distance >= DAY_S) return epochSeconds.map((at) => DAY.format(at * 1_000));
  const clock = distance > 0 && distance < 60 ? CLOCK_SECONDS : CLOCK;
  return epochSeconds.map((at) => {
    const time = new Date(at * 1_000);
    const isMidnight = time.getHours() === 0 && time.getMinutes() === 0 && time.getSeconds() === 0;
    return isMidnight ? DAY.format(time) : clock.format(time);
  });
}

/** Formats the time of a point, as precisely as the points are close together. */
export function pointTimeText(at: number, stepMs: number): string {
  return (stepMs < 60_000 ? DAY_SECONDS : DAY_CLOCK).format(at);
}

let canvas: CanvasRenderingContext2D | null = null;

export const CHART_FONT = "12px 'Inter Variable', sans-serif";

const WIDTHS_MAX = 2_000;
const widths = new Map<string, number>();

/** Returns the width of a text in CSS pixels, cached because labels of axes are the same from chart to chart. */
export function textWidth(text: string, font = CHART_FONT): number {
  const key = `${font} ${text}`;
  const measured = widths.get(key);
  if (measured !== undefined) return measured;
  canvas ??= document.createElement('canvas').getContext('2d');
  if (canvas === null) return text.length * 7;
  canvas.font = font;
  const { width } = canvas.measureText(text);
  // Until the font is there, another one is measured.
  if (document.fonts.status !== 'loaded') return width;
  if (widths.size >= WIDTHS_MAX) widths.clear();
  widths.set(key, width);
  return width;
}

/** Colours of lines, in the order of the series; contrast at least 3 to 1 against the background of the scheme. */
const LIGHT = ['#2157ca', '#b75c0a', '#127a52', '#a33bb5', '#0b7285', '#c2255c', '#5f6b1e', '#6741d9'] as const;
const DARK = ['#8fb3ff', '#f0a95c', '#5fd19a', '#dc9bee', '#5ccbe0', '#ff9ebb', '#c6cf7a', '#b9a5ff'] as const;

/** Dashes that tell lines of the same colour apart, once all colours are used. */
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3]];

export type Scheme = 'light' | 'dark';

interface LineStyle {
  readonly color: string;
  readonly dash: readonly number[];
}

export function lineStyle(index: number, scheme: Scheme): LineStyle {
  const colors = scheme === 'dark' ? DARK : LIGHT;
  return {
    color: colors[index % colors.length] ?? LIGHT[0],
    dash: DASHES[Math.floor(index / colors.length) % DASHES.length] ?? [],
  };
}

const colorOf = new Map<string, string>();
let knownScheme: string | null = null;

/**
 * Returns a custom property of the theme, such as `--t-red`, cached for each scheme: reading it makes the browser
 * update the styles of the whole page, which a page of many charts would do hundreds of times.
 */
export function themeColor(name: string): string {
  const { documentElement } = document;
  const scheme = documentElement.getAttribute('data-mantine-color-scheme');
  if (scheme !== knownScheme) colorOf.clear();
  knownScheme = scheme;
  const color = colorOf.get(name) ?? getComputedStyle(documentElement).getPropertyValue(name).trim();
  // The value is empty until the theme has been loaded.
  if (color !== '') colorOf.set(name, color);
  return color;
}

export function toneColor(tone: 'red' | 'amber' | 'green' | 'blue' | 'gray'): string {
  return themeColor(tone === 'gray' ? '--mantine-color-dimmed' : `--t-${tone}`);
}
