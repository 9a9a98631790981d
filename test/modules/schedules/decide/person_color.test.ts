import { expect, test } from 'vitest';

import { PERSON_COLORS, personColor } from '#modules/schedules/decide/person_color.ts';

type Rgb = readonly [number, number, number];
type Matrix = readonly [Rgb, Rgb, Rgb];

/** Matrices of the colour vision of people with dichromacy, in linear light (Machado, Oliveira and Fernandes 2009, severity 1). */
const SEEN: Readonly<Record<string, Matrix>> = {
  'full colour vision': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const linear = (hex: string): Rgb => {
  const channel = (from: number): number => {
    const value = Number.parseInt(hex.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
};
const dot = (a: Rgb, b: Rgb): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const times = (matrix: Matrix, color: Rgb): Rgb => [
  dot(matrix[0], color),
  dot(matrix[1], color),
  dot(matrix[2], color),
];
const bounded = (color: Rgb): Rgb => {
  const [r, g, b] = color.map((value) => Math.min(1, Math.max(0, value)));
  return [r ?? 0, g ?? 0, b ?? 0];
};

/** Oklab, in which distances are as people see them. */
function oklab(color: Rgb): Rgb {
  const lms = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    color,
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    [Math.cbrt(lms[0]), Math.cbrt(lms[1]), Math.cbrt(lms[2])],
  );
}

const luminance = (color: Rgb): number => dot([0.2126, 0.7152, 0.0722], color);
function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(linear(a)), luminance(linear(b))].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** Text of each scheme, as the theme has it. */
const TEXT = { light: '#1c2024', dark: '#e8eaed' } as const;

test.each(['light', 'dark'] as const)('the text is readable on every colour of the %s scheme', (scheme) => {
  const faint = PERSON_COLORS.map((color) => color[scheme]).filter((color) => contrast(color, TEXT[scheme]) < 4.5);
  expect(faint).toEqual([]);
});

/** Distances in Oklab, where 0.02 is seen as different if two fields touch: of any two, and of two with the same mark. */
const DIFFERENT = { any: 0.07, alike: 0.125 };

test.each(Object.entries(SEEN))('with %s, any two colours of a scheme can be told apart', (_, matrix) => {
  for (const scheme of ['light', 'dark'] as const) {
    const seen = PERSON_COLORS.map((color) => oklab(bounded(times(matrix, linear(color[scheme])))));
    const tooClose = seen.flatMap((a, index) =>
      seen.slice(0, index).flatMap((b, other) => {
        const distance = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        const isAlike = PERSON_COLORS[index]?.mark === PERSON_COLORS[other]?.mark;
        return distance > (isAlike ? DIFFERENT.alike : DIFFERENT.any) ? [] : [[other, index, distance]];
      }),
    );
    expect(tooClose).toEqual([]);
  }
});

test('there are twelve colours, of which four each have the same mark', () => {
  expect(PERSON_COLORS).toHaveLength(12);
  expect([...Map.groupBy(PERSON_COLORS, ({ mark }) => mark).values()].map((alike) => alike.length)).toEqual([4, 4, 4]);
  expect(personColor(13)).toBe(personColor(1));
});
