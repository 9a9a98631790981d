import { redact } from '#kernel/log.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

/** Beginnings of secrets that never become one, and signs before them. */
const UNITS = [
  'a',
  'a1',
  '\\',
  '"',
  '"pin" ',
  'Bearer ',
  'code=',
  '"password":"',
  '\\"token\\":',
  'a://b:',
  '/a/',
  'tocsin_oauth.',
];

export default Object.fromEntries(
  UNITS.map((unit) => [
    unit,
    (size) => {
      const text = unit.repeat(Math.floor(size / unit.length));
      return () => redact(text);
    },
  ]),
) satisfies Workloads;
