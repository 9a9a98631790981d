import { describe, expect, test } from 'vitest';

import { cutDetails, cutKey, cutTitle, DETAILS_BYTES_MAX } from '#modules/alerts/decide/alert_limits.ts';
import { cutLinks } from '#modules/alerts/decide/alert_links.ts';

describe('titles', () => {
  test('in any script stay as they are, on one line', () => {
    expect(cutTitle('メモリ不足\n🔥 عالية')).toEqual({ value: 'メモリ不足 🔥 عالية', cut: false });
  });

  test('are cut at 1,024 characters, and never within one', () => {
    const { value, cut } = cutTitle('a' + '🔥'.repeat(600));
    expect(cut).toBe(true);
    expect(value.length).toBeLessThanOrEqual(1_024);
    expect(value.isWellFormed()).toBe(true);
  });
});

test('long keys stay apart, and the same key is cut to the same', () => {
  const start = 'k'.repeat(600);
  expect(cutKey(start).value).toHaveLength(512);
  expect(cutKey(`${start}1`).value).not.toBe(cutKey(`${start}2`).value);
  expect(cutKey(`${start}1`)).toEqual(cutKey(`${start}1`));
});

test('links lead to the web and nowhere else', () => {
  const links = [
    { href: 'javascript:alert(1)', text: 'run' },
    { href: ' JaVaScRiPt:alert(1)' },
    { href: 'data:text/html,x' },
    { href: 7 },
    { href: 'https://example.com/a', text: 'runbook' },
    { href: 'https://example.com/a', text: 'again' },
  ];
  expect(cutLinks(links)).toEqual([{ href: 'https://example.com/a', text: 'runbook' }]);
});

test('details beyond 64 KiB are cut, and what fits is kept', () => {
  const { value, cut } = cutDetails({ small: 1, large: 'é'.repeat(100_000), after: 2 });
  expect(cut).toBe(true);
  expect(value['small']).toBe(1);
  expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(DETAILS_BYTES_MAX);
  expect(cutDetails({ nul: 'a\0b', deep: { list: ['\0'] } }).value).toEqual({
    nul: 'a\uFFFDb',
    deep: { list: ['\uFFFD'] },
  });
});
