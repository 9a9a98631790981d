import { expect, test } from 'vitest';

import { windowForInterval } from '#modules/rules/decide/replay.ts';

/** Returns the findings of a rule over `windowMinutes`, one a minute. */
function historyOf(
  windowMinutes: number,
  everySeconds: number,
  isSilent: (second: number) => boolean = () => false,
  hours = 2,
) {
  const samples = Array.from({ length: (hours * 3_600) / everySeconds }, (_, index) => index * everySeconds);
  const sent = samples.filter((second) => !isSilent(second));
  const values = Array.from({ length: hours * 60 }, (_, minute) => {
    const end = minute * 60;
    return sent.some((second) => second > end - windowMinutes * 60 && second <= end) ? 1 : null;
  });
  return { firstMs: 0, stepMs: 60_000, values };
}

test.each([
  [1, 90, 2],
  [1, 300, 5],
  [2, 300, 5],
  [5, 600, 10],
])(
  'a window of %i min over samples every %i s is too short: %i min would do',
  (windowMinutes, everySeconds, enough) => {
    expect(windowForInterval(windowMinutes, historyOf(windowMinutes, everySeconds))).toBe(enough);
  },
);

test('a window that always holds a sample is long enough, and outages are no interval', () => {
  expect(windowForInterval(1, historyOf(1, 60))).toBeNull();
  expect(windowForInterval(5, historyOf(5, 90))).toBeNull();
  expect(
    windowForInterval(
      1,
      historyOf(1, 60, (second) => second > 1_800 && second < 4_000),
    ),
  ).toBeNull();
  expect(windowForInterval(1, { firstMs: 0, stepMs: 60_000, values: [null, null, 1, null] })).toBeNull();
});

test('a metric that comes each hour has gaps that are alike, and its windows are too short as well', () => {
  expect(windowForInterval(5, historyOf(5, 3_600, undefined, 24))).toBe(60);
  expect(windowForInterval(60, historyOf(60, 3_600, undefined, 24))).toBeNull();
  const outages = (second: number): boolean =>
    [3, 9, 20].some((hour) => second > hour * 3_600 && second < hour * 3_600 + hour * 200);
  expect(windowForInterval(1, historyOf(1, 60, outages, 24))).toBeNull();
});
