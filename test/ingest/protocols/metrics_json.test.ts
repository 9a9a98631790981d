import { describe, expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { decodeMetricsJson } from '#ingest/protocols/metrics_json.ts';
import { parseRfc3339 } from '#ingest/protocols/body/native_points.ts';
import { Temporal } from '#kernel/time.ts';
import { freshLimits, NOW, NOW_MS, pointsOf, shortOf } from '#test/ingest/metric_bytes.ts';
import { seriesKey } from '#test/kit/metrics/points.ts';

const decodeText = (text: string, type: string | undefined, limits = freshLimits()) =>
  finish(decodeMetricsJson(Buffer.from(text), type, NOW, limits));
const decode = (points: readonly unknown[], limits = freshLimits()) =>
  decodeText(JSON.stringify({ points }), 'application/json; charset=utf-8', limits);
const lines = (...points: readonly string[]) => decodeText(points.join('\n'), 'application/x-ndjson');

describe('points', () => {
  test('are of now without labels where nothing else is said, and counters where the name ends in _total', () => {
    expect(pointsOf(decode([{ name: 'cpu', value: 99.5 }]))).toMatchObject([
      { name: 'cpu', labels: {}, at: NOW_MS, value: 99.5, kind: 'gauge' },
    ]);
    expect(shortOf(decode([{ name: 'orders_total', value: 59.9 }]))).toEqual(['orders_total 59.9 counter']);
    const [bucket, heap] = [
      { name: 'took_bucket', value: 7, labels: { le: '1.0' } },
      { name: 'token_bucket', value: 7 },
    ];
    expect(shortOf(decode([bucket, heap]))).toEqual(['took_bucket{le=1} 7 counter', 'token_bucket 7 gauge']);
  });

  test('points of one series share its entry, however their labels are ordered', () => {
    const { points } = decode([
      { name: 'cpu', value: 1, labels: { host: 'a', zone: 'x' } },
      { name: 'cpu', value: 2, labels: { zone: 'x', host: 'a', empty: '' } },
      { name: 'cpu', value: 3, labels: { host: 'b' } },
    ]);
    expect(points.series).toEqual([
      { name: 'cpu', labels: ['host', 'a', 'zone', 'x'], key: seriesKey('cpu', ['host', 'a', 'zone', 'x']) },
      { name: 'cpu', labels: ['host', 'b'], key: seriesKey('cpu', ['host', 'b']) },
    ]);
    expect([...points.seriesIndex.subarray(0, points.length)]).toEqual([0, 0, 1]);
  });

  test('have times in RFC 3339 or epoch milliseconds', () => {
    const times = ['2026-11-21T10:39:00Z', '2026-11-21T11:39:00.1239+01:00', NOW_MS - 1, NOW_MS - 0.5];
    const decoded = decode(times.map((at) => ({ name: 'm', value: 1, at })));
    expect(pointsOf(decoded).map(({ at }) => at)).toEqual([
      Date.parse('2026-11-21T10:39:00Z'),
      Date.parse('2026-11-21T10:39:00.123Z'),
      NOW_MS - 1,
      NOW_MS - 1,
    ]);
  });

  test('may be sent one a line; empty lines do not count', () => {
    const decoded = lines('{"name":"a","value":1}\r', '', '{"name":"b","value":2}', '{"name":"c"', '7');
    expect(shortOf(decoded)).toEqual(['a 1 gauge', 'b 2 gauge']);
    expect(decoded.rejected).toEqual({
      count: 2,
      reasons: [
        { message: 'a line that is not JSON', count: 1, places: ['line 4'] },
        { message: 'an object with "name" and "value" is expected, not a number', count: 1, places: ['line 5'] },
      ],
    });
  });
});

describe('faulty points', () => {
  test.each([
    [{ value: 1 }, 'name: a string is expected, not nothing'],
    [{ name: '', value: 1 }, 'no metric name'],
    [{ name: 'a', value: '1' }, 'value: a number is expected, not a string'],
    [{ name: 'a', value: null }, 'value: a number is expected, not null'],
    [{ name: 'a', value: 1, unit: 's' }, 'unknown property "unit"'],
    [{ name: 'a', value: 1, labels: ['x'] }, 'labels: an object is expected, not a list'],
    [{ name: 'a', value: 1, labels: { code: 200 } }, 'labels["code"]: a string is expected, not a number'],
    [{ name: 'a', value: 1, labels: { __name__: 'b' } }, 'the label "__name__", which is the metric name\'s own'],
    [{ name: '\ud800', value: 1 }, 'half a surrogate pair, which UTF-8 cannot hold'],
    [{ name: 'é'.repeat(257), value: 1 }, 'a metric name of more than 512 bytes'],
    [{ name: 'a', value: 1, at: NOW_MS / 1000 }, 'at: epoch times are in milliseconds, and this one reads as seconds'],
    [
      { name: 'a', value: 1, at: NOW_MS * 1000 },
      'at: epoch times are in milliseconds, and this one reads as microseconds',
    ],
    [
      { name: 'a', value: 1, at: NOW_MS * 1e6 },
      'at: epoch times are in milliseconds, and this one reads as nanoseconds',
    ],
    [
      { name: 'a', value: 1, at: '2026-11-21' },
      'at: epoch milliseconds or an RFC 3339 time with an offset is expected, not another text',
    ],
    [
      { name: 'a', value: 1, at: null },
      'at: epoch milliseconds or an RFC 3339 time with an offset is expected, not null',
    ],
    [
      { value: true, x: 1 },
      'value: a number is expected, not a boolean; unknown property "x"; name: a string is expected, not nothing',
    ],
  ])('%j is refused, naming all that is wrong', (point, message) => {
    const decoded = decode([{ name: 'good', value: 1 }, point]);
    expect(shortOf(decoded)).toEqual(['good 1 gauge']);
    expect(decoded.rejected).toEqual({ count: 1, reasons: [{ message, count: 1, places: ['points[1]'] }] });
  });

  test('with values that JSON reads as infinite are refused', () => {
    const { rejected } = decodeText('{"points":[{"name":"a","value":1e999}]}', 'application/json');
    expect(rejected.reasons).toEqual([{ message: 'an infinite value', count: 1, places: ['points[0]'] }]);
  });

  test('by the thousand are answered in few words', () => {
    const points = Array.from({ length: 5000 }, (_, i) => ({ name: 'a', value: 1, [`p${i}`]: 'x'.repeat(99) }));
    const { rejected } = decode(points);
    expect(rejected.count).toBe(5000);
    expect(rejected.reasons.reduce((sum, { count }) => sum + count, 0)).toBe(5000);
    expect(JSON.stringify(rejected).length).toBeLessThan(20_000);
  });

  test('beyond the limit of a request are refused, lines too', () => {
    const points = [1, 2, 3].map((value) => ({ name: 'a', value }));
    const limits = { ...freshLimits(), pointsMax: 2 };
    expect(shortOf(decode(points, limits))).toEqual(['a 1 gauge', 'a 2 gauge']);
    const ndjson = decodeText(points.map((point) => JSON.stringify(point)).join('\n'), 'application/jsonl', limits);
    expect(shortOf(ndjson)).toEqual(['a 1 gauge', 'a 2 gauge']);
    expect(ndjson.rejected).toMatchObject({ count: 1, reasons: [{ places: ['line 3'] }] });
  });
});

describe('bodies', () => {
  test.each([
    ['', 'the body is not JSON'],
    ['{"points":', 'the body is not JSON'],
    ['[]', 'the body must be an object with the list "points"'],
    ['null', 'the body must be an object with the list "points"'],
    ['{}', 'points: a list of points is expected'],
    ['{"points":{},"x":1}', 'x: unknown property; points: a list of points is expected'],
  ])('%j is 400: %s', (text, message) => {
    expect(() => decodeText(text, 'application/json')).toThrow(
      expect.objectContaining({ code: 'invalid_input', message }),
    );
  });

  test('bodies that are not UTF-8 are answered with 400', () => {
    const body = Buffer.concat([Buffer.from('{"points":[{"name":"'), Buffer.from([0xff]), Buffer.from('"}]}')]);
    expect(() => finish(decodeMetricsJson(body, 'application/json', NOW, freshLimits()))).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
  });

  test('bodies without points are accepted', () => {
    expect(decode([])).toMatchObject({ points: { length: 0 }, rejected: { count: 0 } });
    expect(lines('')).toMatchObject({ points: { length: 0 }, rejected: { count: 0 } });
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
    'bodies of the type %s are answered with 415',
    (type) => {
      expect(() => decodeText('{"points":[]}', type)).toThrow(
        expect.objectContaining({ code: 'unsupported_media_type' }),
      );
    },
  );

  test('over the limit are 413', () => {
    expect(() => decode([], { ...freshLimits(), bodyBytesMax: 5 })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
  });
});

describe('RFC 3339 times', () => {
  test.each([
    '2024-02-29T00:00:00Z',
    '2026-01-31T23:59:59.999Z',
    '2026-06-01t10:00:00.5z',
    '2026-06-01 10:00:00-11:30',
    '0001-01-01T00:00:00Z',
    '1969-12-31T23:59:59.25Z',
  ])('%s reads as Temporal reads it', (text) => {
    expect(parseRfc3339(text)).toBe(Temporal.Instant.from(text).epochMilliseconds);
  });

  test.each([
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:00',
    '2026-01-01T00:00Z',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+24:00',
    ' 2026-01-01T00:00:00Z',
  ])('%j is none', (text) => {
    expect(parseRfc3339(text)).toBeNull();
  });
});
