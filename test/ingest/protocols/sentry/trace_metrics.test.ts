import { expect, test } from 'vitest';

import { readTraceMetrics } from '#ingest/protocols/sentry/trace_metrics.ts';
import { inflate } from '#ingest/inflate.ts';
import { decodeSentryRequest, SENTRY_BODY_LIMITS } from '#ingest/protocols/sentry.ts';
import { readRecordings } from '#test/ingest/golden/sentry_recordings.ts';

const AT = 1_795_257_801_000;

const read = (items: unknown, offsetMs = 0) =>
  readTraceMetrics(Buffer.from(JSON.stringify({ version: 2, items })), offsetMs, AT)!;

test('metrics of a real client have their type, unit, time and attributes', async () => {
  const { request } = readRecordings().find(({ name }) => name.endsWith('06-trace_metric'))!;
  const { besides, dropped } = await decodeSentryRequest(request, (body, encoding) =>
    inflate(body, encoding, SENTRY_BODY_LIMITS),
  );
  expect(dropped).toEqual([]);
  expect(besides.metrics.map(({ name, type, value, unit }) => [name, type, value, unit])).toEqual([
    ['kit.count', 'counter', 3, ''],
    ['kit.gauge', 'gauge', 1.5, ''],
    ['kit.dist', 'distribution', 12, 'ms'],
  ]);
  expect(besides.metrics[0]).toMatchObject({
    at: 1_795_257_801_478,
    labels: [
      ['environment', 'kit-env'],
      ['release', 'kit@1.2.3'],
      ['server.address', 'kit-host'],
    ],
  });
  expect(new Set(besides.metrics.map(({ sign }) => sign)).size).toBe(3);
});

test('what tells one value from another, or is of one person, is no label', () => {
  const attributes = {
    'sentry.timestamp.sequence': { value: 4, type: 'integer' },
    'sentry.replay_id': { value: 'x', type: 'string' },
    'user.email': { value: 'ann@x.test', type: 'string' },
    plan: { value: 'team', type: 'string' },
    isTrial: { value: false, type: 'boolean' },
    tags: { value: ['a', 'b'], type: 'string[]' },
    bare: 7,
    api_key2: 'x',
    'url.full': 'https://shop.test/?token=a1',
    empty: { value: '', type: 'string' },
    none: null,
  };
  const { metrics } = read([{ name: 'a', type: 'counter', value: 1, timestamp: AT / 1_000, attributes }]);
  expect(metrics[0]!.labels).toEqual([
    ['bare', '7'],
    ['isTrial', 'false'],
    ['plan', 'team'],
    ['tags', '["a","b"]'],
    ['url.full', 'https://shop.test/?token=[filtered]'],
  ]);
});

test('units are spelt as other senders spell them', () => {
  const units = ['millisecond', 'byte', 'none', 'parcels', 7];
  const { metrics } = read(units.map((unit) => ({ name: 'a', type: 'distribution', value: 1, unit })));
  expect(metrics.map(({ unit }) => unit)).toEqual(['ms', 'By', '', 'parcels', '7']);
});

test('what is no metric is counted, and one without a time is of now', () => {
  const { metrics, faulty } = read([
    { name: 'a', type: 'counter', value: 1 },
    { name: 'a', type: 'counter', value: 1, timestamp: AT / 1_000 + 7_200 },
    { name: '', type: 'counter', value: 1 },
    { name: 'a', type: 'summary', value: 1 },
    { name: 'a', type: 'gauge', value: 'much' },
    null,
  ]);
  expect([metrics.length, faulty]).toEqual([2, 4]);
  expect(metrics[0]!.at).toBe(AT);
  const slow = read([{ name: 'a', type: 'counter', value: 1, timestamp: AT / 1_000 + 7_200 }], 7_200_000);
  expect(slow.metrics[0]!.at).toBe(AT);
  expect(read(Array.from({ length: 1_002 }, () => ({ name: 'a', type: 'counter', value: 1 })))).toMatchObject({
    faulty: 0,
    beyond: 2,
  });
});

test('equal values of one container are several, and the same ones when it comes again', () => {
  const item = { name: 'jobs', type: 'counter', value: 1, timestamp: AT / 1_000 };
  const signs = () => read([item, item, { ...item, value: 2 }, item]).metrics.map(({ sign }) => sign);
  expect(new Set(signs()).size).toBe(4);
  expect(signs()).toEqual(signs());
});
