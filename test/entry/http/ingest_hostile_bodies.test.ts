import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { acceptedEvents } from '#test/ingest/accepted_data.ts';
import { bytes, label, message, number, sample, snappy, varint, writeRequest } from '#test/ingest/metric_bytes.ts';
import { fileWorld } from '#test/kit/world.ts';

const MEGABYTE = 1024 * 1024;
/** Memory that four bodies of the largest size may take while they are unpacked, and as much again for being joined. */
const GROWTH_MAX = 900 * MEGABYTE;
const DEPTH = 50_000;
const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

const w = await fileWorld();
const service = await w.given.service();

const now = () => w.clock.now().epochMilliseconds;

async function post(url: string, payload: Buffer, headers: Record<string, string> = {}): Promise<number> {
  return (await w.app.inject({ method: 'POST', url, payload, headers })).statusCode;
}

function sendMetrics(path: string, type: string, body: Buffer, encoding?: string): Promise<number> {
  return post(`/api/ingest/${path}`, body, {
    authorization: `Bearer ${service.ingestionKey}`,
    'content-type': type,
    ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
  });
}

function sendSentry(kind: 'envelope' | 'store', body: Buffer | string, encoding?: string): Promise<number> {
  const { username, pathname } = new URL(service.dsn);
  const headers: Record<string, string> = encoding === undefined ? {} : { 'content-encoding': encoding };
  return post(`/api${pathname}/${kind}/?sentry_key=${username}`, Buffer.from(body), headers);
}

const isRefusal = (status: number): boolean => status >= 400 && status < 500;

/** The most that the process grew by while the work was under way. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  try {
    await work();
  } finally {
    clearInterval(watch);
  }
  return Math.max(most, process.memoryUsage.rss()) - before;
}

describe('bombs', () => {
  const zeros = Buffer.alloc(101 * MEGABYTE, 0x20);
  const quick = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
  const bombs = [
    ['gzip', gzipSync(zeros, { level: 1 })],
    ['deflate', deflateSync(zeros, { level: 1 })],
    ['br', brotliCompressSync(zeros, quick)],
    ['zstd', zstdCompressSync(zeros)],
  ] as const;

  test('bombs of every encoding, many at once, end in 413 within bounded memory', async () => {
    const statuses: number[] = [];
    const growth = await growthDuring(async () => {
      const sent = bombs.flatMap(([encoding, bomb]) => [
        sendMetrics('metrics', JSON_TYPE, bomb, encoding),
        sendMetrics('otlp/v1/metrics', PROTOBUF, bomb, encoding),
        sendSentry('envelope', bomb, encoding),
        sendSentry('store', bomb, encoding),
      ]);
      statuses.push(...(await Promise.all(sent)));
    });
    expect([...new Set(statuses)]).toEqual([413]);
    expect(growth).toBeLessThan(GROWTH_MAX);
  }, 180_000);

  test('inside bombs, and those that name no encoding, are no different', async () => {
    const [, [, deflated]] = bombs;
    const growth = await growthDuring(async () => {
      for (const [body, encoding] of [
        [gzipSync(bombs[0][1]), 'gzip, gzip'],
        [deflated, undefined],
        [Buffer.from(deflated.toString('base64')), undefined],
        [gzipSync(deflated), 'gzip'],
      ] as const) {
        expect(await sendSentry('store', body, encoding)).toBe(413);
      }
    });
    expect(growth).toBeLessThan(GROWTH_MAX);
  }, 180_000);

  test('in snappy are refused before anything is unpacked', async () => {
    const claim = Buffer.concat([varint(4_000_000_000), Buffer.from([0xfe, 0x01, 0x00])]);
    const growth = await growthDuring(async () => {
      expect(await sendMetrics('prometheus/write', PROTOBUF, claim, 'snappy')).toBe(413);
    });
    expect(growth).toBeLessThan(100 * MEGABYTE);
  });
});

describe('bodies without end', () => {
  const nested = (open: string, close: string): string => open.repeat(DEPTH) + close.repeat(DEPTH);

  test('in depth are an event like another, cut', async () => {
    for (const extra of [nested('[', ']'), nested('{"a":', '}').replace('}', '1}')]) {
      const event = `{"message":"deep","extra":${extra},"contexts":${extra},"tags":${nested('[', ']')}}`;
      expect(await sendSentry('store', event)).toBe(200);
    }
    const events = (await acceptedEvents(w)).filter(({ event }) => event.message === 'deep');
    expect(events).toHaveLength(2);
    expect(JSON.stringify(events).length).toBeLessThan(10_000);
  });

  test('in depth are no points', async () => {
    const points = `{"points":[{"name":"cpu","value":1,"labels":${nested('{"a":', '}').replace('}', '1}')}}]}`;
    expect(await sendMetrics('metrics', JSON_TYPE, Buffer.from(points))).toBe(400);
    expect(await sendMetrics('metrics', 'application/x-ndjson', Buffer.from(nested('[', ']')))).toBe(400);
    const otlp = Buffer.from(`{"resourceMetrics":${nested('[', ']')}}`);
    expect(isRefusal(await sendMetrics('otlp/v1/metrics', JSON_TYPE, otlp))).toBe(true);
  });

  test('in depth of attributes are refused or taken without them', async () => {
    let value = bytes(1, 'deep');
    for (let depth = 0; depth < 2_000; depth += 1) value = message(5, message(1, value));
    const body = message(1, message(1, message(1, bytes(1, 'attribute'), message(2, value))));
    expect(await sendMetrics('otlp/v1/metrics', PROTOBUF, body)).toBeLessThan(500);
  });

  test('in labels are refused, with the rest taken', async () => {
    const many = Array.from({ length: 5_000 }, (_, index) => label(`l${index}`, 'v'));
    const long = label('long', 'x'.repeat(MEGABYTE / 4));
    const good = message(1, label('__name__', 'good'), sample(1, now()));
    for (const labels of [many, [long]]) {
      const series = message(1, label('__name__', 'cpu'), ...labels, sample(1, now()));
      expect(await sendMetrics('prometheus/write', PROTOBUF, writeRequest(series))).toBe(400);
      expect(await sendMetrics('prometheus/write', PROTOBUF, writeRequest(series, good))).toBe(204);
    }
    const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`l${index}`, 'v']));
    const points = Buffer.from(JSON.stringify({ points: [{ name: 'cpu', value: 1, labels }] }));
    expect(await sendMetrics('metrics', JSON_TYPE, points)).toBe(400);
  });

  test('in lines and items are looked at up to the limits', async () => {
    const growth = await growthDuring(async () => {
      const lines = Buffer.from('{"a":1}\n'.repeat(MEGABYTE / 2));
      expect(await sendMetrics('metrics', 'application/x-ndjson', lines)).toBe(400);
      expect(await sendMetrics('metrics', 'application/x-ndjson', Buffer.alloc(4 * MEGABYTE, '\n'))).toBe(202);
      const items = '{}\n'.repeat(MEGABYTE);
      expect(await sendSentry('envelope', `{}\n${items}`)).toBe(200);
      expect(await sendSentry('envelope', `{}\n${'{"type":"event"}\n{}\n'.repeat(100_000)}`)).toBe(200);
    });
    expect(growth).toBeLessThan(GROWTH_MAX);
  });
});

describe('lengths that lie', () => {
  test('are refused in protobuf, however large they say they are', async () => {
    const lies = [
      Buffer.concat([Buffer.from([0x0a]), varint(2n ** 63n)]),
      Buffer.concat([Buffer.from([0x0a]), varint(0xffffffff), Buffer.alloc(100)]),
      Buffer.concat([Buffer.from([0x0a, 0x05, 0x0a, 0x7f]), Buffer.alloc(3)]),
      Buffer.from([0x0a, ...Array.from({ length: 12 }, () => 0xff)]),
      message(1, bytes(1, 'cut')).subarray(0, 4),
      Buffer.concat([number(1, 1), Buffer.from([0x0b])]),
    ];
    for (const lie of lies) {
      expect(isRefusal(await sendMetrics('prometheus/write', PROTOBUF, snappy(lie)))).toBe(true);
      expect(isRefusal(await sendMetrics('otlp/v1/metrics', PROTOBUF, lie))).toBe(true);
    }
  });

  test('are passed over in envelopes', async () => {
    for (const length of ['1e99', '-5', '99999999999999999999', '"7"', '1.5', 'null']) {
      const envelope = `{}\n{"type":"event","length":${length}}\n{"message":"lied to"}\n`;
      expect(await sendSentry('envelope', envelope)).toBe(200);
    }
    const events = (await acceptedEvents(w)).filter(({ event }) => event.message === 'lied to');
    expect(events.length).toBeGreaterThanOrEqual(5);
  });
});
