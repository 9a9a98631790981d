import { maskVariables } from '#modules/exceptions/decide/masking.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

/** Beginnings of variables that never become one, or become one after another. */
const UNITS = [
  'a',
  '1',
  '1.',
  '/a',
  '/a@',
  ':',
  'a@',
  '-1',
  'eyJ',
  'http://',
  'a://',
  '0x',
  'f0:',
  '1_111_',
  '1,111,',
  ' 1',
  'a@b.',
  '<int',
  'C:\\a',
  '..',
  '/a.b%',
  'aB3-',
  '1.1.1-',
  '2026-11-21 ',
  'Jan 1 ',
  '1h',
  '~/',
  'a_1',
  'sk_',
  '\\\\',
  '::',
  '+',
  '@',
];

/** Longer than the longest run that a form repeats. */
const LONG_UNIT = `/${'a.'.repeat(120)}`;

export default {
  ...Object.fromEntries(
    UNITS.flatMap((unit) =>
      ['', 'z'].map((tail) => [
        `${unit} ${tail}`,
        (length) => {
          const text = unit.repeat(Math.ceil(length / unit.length)) + tail;
          return () => maskVariables(text);
        },
      ]),
    ),
  ),
  // More of them than a path has segments.
  'long segments of a path': (length) => {
    const text = LONG_UNIT.repeat(Math.ceil(length / 12));
    return () => maskVariables(text);
  },
} satisfies Workloads;
