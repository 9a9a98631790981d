/** Of lines, in the order of the series; at least 3 to 1 against the background of its scheme. */
const LIGHT = ['#2157ca', '#b75c0a', '#127a52', '#a33bb5', '#0b7285', '#c2255c', '#5f6b1e', '#6741d9'] as const;
const DARK = ['#8fb3ff', '#f0a95c', '#5fd19a', '#dc9bee', '#5ccbe0', '#ff9ebb', '#c6cf7a', '#b9a5ff'] as const;
/** Once all colours are used, lines of the same colour differ by their dashes. */
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3]];

export type Scheme = 'light' | 'dark';

export interface LineStyle {
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

/** A custom property of the theme, such as `--t-red`. */
export function themeColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function toneColor(tone: 'red' | 'amber' | 'green' | 'blue' | 'gray'): string {
  return themeColor(tone === 'gray' ? '--mantine-color-dimmed' : `--t-${tone}`);
}
