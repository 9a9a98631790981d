import { describe, expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import {
  bytes,
  fixed64,
  label,
  freshLimits,
  message,
  NOW,
  NOW_MS,
  number,
  pointsOf,
  recording,
  sample,
  shortOf,
  snappy,
  staleSample,
  varint,
  writeRequest,
} from '#test/ingest/metric_bytes.ts';

const TYPE = 'application/x-protobuf';
const decode = (body: Buffer, contentType: string | undefined = TYPE, limits = freshLimits()) =>
  finish(decodePrometheusWrite(body, contentType, NOW, limits));
const series = (name: string, ...fields: Buffer[]) => message(1, label('__name__', name), ...fields);

interface Described {
  readonly timeseries: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly samples: readonly { readonly value: number; readonly ts: number }[];
  }[];
}

describe('recorded requests of Prometheus 2.42', () => {
  test.each(['prom-1', 'prom-4'])('%s becomes exactly the series and samples described', (name) => {
    const { timeseries } = JSON.parse(recording(`${name}.json`).toString()) as Described;
    const described = timeseries.flatMap(({ labels: { __name__, ...labels }, samples }) =>
      samples.map(({ value, ts }) => ({ name: __name__, labels, value, at: ts })),
    );
    const decoded = decode(recording(`${name}.snappy`));
    const points = pointsOf(decoded).map(({ kind: _, ...point }) => ({ ...point, labels: { ...point.labels } }));
    expect(points).toEqual(described);
    expect(points).toHaveLength(130);
    expect(decoded).toMatchObject({ rejected: { count: 0, reasons: [] }, dropped: 0 });
  });

  test('counters, histograms and summaries are told from gauges', () => {
    const kinds = new Map(
      pointsOf(decode(recording('prom-1.snappy'))).map(({ name, labels, kind }) => [
        `${name}${'quantile' in labels ? '{quantile}' : ''}`,
        kind,
      ]),
    );
    expect(Object.fromEntries([...kinds].filter(([name]) => name.startsWith('kit_')))).toEqual({
      kit_requests_total: 'counter',
      kit_temp: 'gauge',
      kit_latency_seconds_bucket: 'counter',
      kit_latency_seconds_sum: 'counter',
      kit_latency_seconds_count: 'counter',
      'kit_sum{quantile}': 'gauge',
      kit_sum_sum: 'counter',
      kit_sum_count: 'counter',
    });
  });

  test('metadata on its own is taken and holds no point', () => {
    expect(decode(recording('prom-3.snappy'))).toMatchObject({ points: { length: 0 }, rejected: { count: 0 } });
  });
});

describe('samples', () => {
  test('a stale marker ends the series, other NaNs are dropped, infinite values are refused', () => {
    const nan = message(2, fixed64(1, 0x7ff8000000000001n), number(2, NOW_MS));
    const decoded = decode(
      writeRequest(
        series('up', label('job', 'a'), sample(1, NOW_MS - 2), nan, staleSample(NOW_MS)),
        series('up', label('job', 'b'), sample(Infinity, NOW_MS), sample(-Infinity, NOW_MS), sample(2, NOW_MS)),
      ),
    );
    expect(shortOf(decoded)).toEqual(['up{job=a} 1 gauge', 'up{job=a} 0 stale', 'up{job=b} 2 gauge']);
    expect(decoded.dropped).toBe(1);
    expect(decoded.rejected).toEqual({
      count: 2,
      reasons: [{ message: 'an infinite value', count: 2, places: ['up{job="b"}', 'up{job="b"}'] }],
    });
  });

  test('times are taken from the retention up to ten minutes ahead', () => {
    const at = (offset: number) => sample(offset, NOW_MS + offset);
    const decoded = decode(
      writeRequest(series('m', at(600_000), at(600_001), at(-30 * 86_400_000), at(-30 * 86_400_000 - 1))),
    );
    expect(pointsOf(decoded).map(({ value }) => value)).toEqual([600_000, -30 * 86_400_000]);
    expect(decoded.rejected.reasons.map(({ message }) => message)).toEqual([
      'a time more than 10 minutes ahead',
      'a time older than the 30 days that the service keeps',
    ]);
  });

  test('a negative time is read as one', () => {
    expect(decode(writeRequest(series('m', sample(1, -1n)))).rejected).toMatchObject({
      count: 1,
      reasons: [{ message: 'a time older than the 30 days that the service keeps' }],
    });
  });

  test('labels and metadata may stand behind what they speak of', () => {
    const metadata = (type: number, family: string) => message(3, number(1, type), bytes(2, family));
    const decoded = decode(
      writeRequest(
        message(1, sample(1, NOW_MS), label('zone', 'a'), label('__name__', 'orders')),
        series('size_total', sample(2, NOW_MS)),
        series('heap_bucket', label('le', '1'), sample(3, NOW_MS)),
        series('plain_total', sample(4, NOW_MS)),
        metadata(1, 'orders'),
        metadata(2, 'size_total'),
        metadata(4, 'heap'),
        metadata(0, 'plain_total'),
      ),
    );
    expect(shortOf(decoded)).toEqual([
      'orders{zone=a} 1 counter',
      'size_total 2 gauge',
      'heap_bucket{le=1} 3 gauge',
      'plain_total 4 counter',
    ]);
  });
});

describe('series', () => {
  test('unsorted labels are sorted and empty ones left out, so that the series is the same', () => {
    const { points } = decode(
      writeRequest(
        series('m', label('b', '2'), label('c', ''), label('a', '1'), sample(1, NOW_MS)),
        series('m', label('a', '1'), label('b', '2'), sample(1, NOW_MS + 1)),
      ),
    );
    expect(points.series[0]).toEqual(points.series[1]);
    expect(points.series[0]?.labels).toEqual(['a', '1', 'b', '2']);
  });

  test('a label called __proto__ is a label', () => {
    const [point] = pointsOf(decode(writeRequest(series('m', label('__proto__', 'x'), sample(1, NOW_MS)))));
    expect(Object.entries(point!.labels)).toEqual([['__proto__', 'x']]);
  });

  const many = (count: number) => Array.from({ length: count }, (_, i) => label(`l${i}`, 'x'));
  test.each([
    ['no name', message(1, label('a', 'b'), sample(1, NOW_MS)), 'a series without a metric name (__name__)'],
    ['an empty name', series('', sample(1, NOW_MS)), 'no metric name'],
    ['two names', series('m', label('__name__', 'n'), sample(1, NOW_MS)), 'the label "__name__" twice'],
    ['a label twice', series('m', label('a', '1'), label('a', '2'), sample(1, NOW_MS)), 'the label "a" twice'],
    ['a nameless label', series('m', label('', '1'), sample(1, NOW_MS)), 'a label without a name'],
    ['65 labels', series('m', ...many(65), sample(1, NOW_MS)), 'more than 64 labels'],
    [
      'a long value',
      series('m', label('a', 'x'.repeat(513)), sample(1, NOW_MS)),
      'a label whose name or value has more than 512 bytes',
    ],
    ['bytes', series('m', label('a', Buffer.from([0xff])), sample(1, NOW_MS)), 'a text that is not UTF-8'],
    [
      'a native histogram whose spans and counts do not match',
      series('m', message(4, number(1, 3), message(11, number(2, 2)), number(15, NOW_MS))),
      'a native histogram with a schema, spans or buckets out of range',
    ],
  ])('a series with %s is refused and the others are taken', (_, faulty, reason) => {
    const decoded = decode(writeRequest(faulty, series('good', sample(1, NOW_MS))));
    expect(shortOf(decoded)).toEqual(['good 1 gauge']);
    expect(decoded.rejected).toMatchObject({ count: 1, reasons: [{ message: reason, count: 1 }] });
  });

  test('64 labels and 512 bytes are taken', () => {
    const long = 'é'.repeat(256);
    expect(decode(writeRequest(series(long, ...many(63), label('z', long), sample(1, NOW_MS)))).points.length).toBe(1);
  });

  test('points beyond the limit of a request are refused, unread', () => {
    const decoded = decode(
      writeRequest(
        series('a', sample(1, NOW_MS), sample(2, NOW_MS + 1)),
        series('b', sample(3, NOW_MS), sample(4, NOW_MS + 1)),
        series('c', sample(5, NOW_MS)),
      ),
      TYPE,
      { ...freshLimits(), pointsMax: 3 },
    );
    expect(shortOf(decoded)).toEqual(['a 1 gauge', 'a 2 gauge', 'b 3 gauge']);
    expect(decoded.rejected).toMatchObject({ count: 2, reasons: [{ count: 2 }] });
  });
});

describe('bodies', () => {
  const good = writeRequest(series('m', sample(1, NOW_MS)));

  test.each(['application/x-protobuf;proto=io.prometheus.write.v3.Request', 'application/json', '', undefined])(
    'of the type %s are 415',
    (contentType) => {
      expect(() => finish(decodePrometheusWrite(good, contentType, NOW, freshLimits()))).toThrow(
        expect.objectContaining({ code: 'unsupported_media_type' }),
      );
    },
  );

  test('requests that name the message of remote write 1.0 are accepted', () => {
    expect(decode(good, 'application/x-protobuf; proto="prometheus.WriteRequest"').points.length).toBe(1);
  });

  test('over the limit are 413, by what they declare and before it is allocated', () => {
    const bomb = Buffer.concat([varint(4_000_000_000), Buffer.alloc(10)]);
    expect(() => decode(bomb)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
    const limits = { ...freshLimits(), bodyBytesMax: good.length - 1 };
    expect(() => decode(good, TYPE, limits)).toThrow(expect.objectContaining({ code: 'payload_too_large' }));
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('{"points":[]}')],
    ['longer than declared', Buffer.from([1, 4, 0x0a, 0x00])],
    ['shorter than declared', Buffer.from([9, 0, 0x0a])],
    ['a literal with a length beyond 2^31', Buffer.from([5, 0xfc, 0xfa, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
    ['a copy from before the beginning', Buffer.from([5, 0, 0x0a, 0x0e, 0xff, 0x00])],
    ['a cut series', snappy(Buffer.from([0x0a, 0x05, 0x0a]))],
    ['a field number 0', snappy(Buffer.from([0x02, 0x00]))],
    ['a group', snappy(Buffer.from([0x0b]))],
    ['an endless number', snappy(Buffer.alloc(20, 0xff))],
  ])('that are %s are 400', (_, body) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });
});
