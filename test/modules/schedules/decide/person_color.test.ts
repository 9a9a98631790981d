import { expect, test } from 'vitest';

import { personColor } from '#modules/schedules/decide/person_color.ts';

const IDS = Array.from(
  { length: 800 },
  (_, number) => `user_01k9z7c9d0e1f2g3h4j5k6${number.toString(32).padStart(4, '0')}`,
);
const PERSON_COLORS = [...new Set(IDS.map(personColor))];

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

test.each(Object.entries(SEEN))('with %s, any two colours of a scheme can be told apart', (_, matrix) => {
  for (const scheme of ['light', 'dark'] as const) {
    const seen = PERSON_COLORS.map((color) => oklab(bounded(times(matrix, linear(color[scheme])))));
    const distances = seen.flatMap((a, index) =>
      seen.slice(index + 1).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])),
    );
    // Twice what is seen as different where two fields touch (0.02 in Oklab), and more.
    expect(Math.min(...distances)).toBeGreaterThan(0.07);
  }
});

test('a person has the same colour always, and people share the colours about evenly', () => {
  expect(personColor('user_01k9z7c9d0e1f2g3h4j5k6m7np')).toBe(personColor('user_01k9z7c9d0e1f2g3h4j5k6m7np'));
  const counts = new Map<string, number>();
  for (const { light } of IDS.map(personColor)) counts.set(light, (counts.get(light) ?? 0) + 1);
  expect(counts.size).toBe(8);
  expect(Math.min(...counts.values())).toBeGreaterThan(50);
});
