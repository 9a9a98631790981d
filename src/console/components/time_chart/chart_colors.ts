/** Colours of lines, in the order of the series; contrast at least 3 to 1 against the background of the scheme. */
const LIGHT = ['#2157ca', '#b75c0a', '#127a52', '#a33bb5', '#0b7285', '#c2255c', '#5f6b1e', '#6741d9'] as const;
const DARK = ['#8fb3ff', '#f0a95c', '#5fd19a', '#dc9bee', '#5ccbe0', '#ff9ebb', '#c6cf7a', '#b9a5ff'] as const;
/** Dashes that tell lines of the same colour apart, once all colours are used. */
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
