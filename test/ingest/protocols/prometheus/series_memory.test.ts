import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { type PointLimits, pointLimits, type SeriesAllowance } from '#ingest/admission/point_admission.ts';
import { SeriesMemory } from '#ingest/protocols/prometheus/series_memory.ts';
import { decodePrometheusWrite } from '#ingest/protocols/prometheus_write.ts';
import {
  bytes,
  double,
  label,
  freshLimits,
  message,
  NOW,
  NOW_MS,
  number,
  pointsOf,
  sample,
  shortOf,
  staleSample,
  varint,
  writeRequest,
} from '#test/ingest/metric_bytes.ts';

const decode = (body: Buffer, memory: SeriesMemory, limits: PointLimits = freshLimits()) =>
  finish(decodePrometheusWrite(body, 'application/x-protobuf', NOW, limits, memory));

function outcome(body: Buffer, memory: SeriesMemory): unknown {
  // What was said of types is remembered, too: each is read as the first.
  const decoded = decode(body, memory, pointLimits(30));
  return { ...decoded, remember: null, points: pointsOf(decoded), series: decoded.points.series };
}

/** Label sets; those with more labels begin with the bytes of those with fewer. */
const LABELS = [label('__name__', 'm_total'), label('host', 'a'), label('zone', 'é'), label('zzz', 'z')];
const labels = fc.record({ from: fc.integer({ min: 0, max: 1 }), to: fc.integer({ min: 1, max: LABELS.length }) });
const withTail = (part: Buffer, tail: Buffer) => Buffer.concat([part, tail]);
const SAMPLES = [
  sample(1.5, NOW_MS),
  sample(-0, NOW_MS - 1),
  sample(NaN, NOW_MS),
  sample(Infinity, NOW_MS),
  sample(2, -1n),
  sample(2, 0),
  staleSample(NOW_MS),
  message(2, number(2, NOW_MS)),
  message(2, double(1, 7)),
  message(2, number(2, NOW_MS), double(1, 7)),
  message(2, double(1, 7), number(2, NOW_MS), number(2, NOW_MS - 5)),
  message(2, double(1, 7), number(2, NOW_MS), bytes(9, 'x'.repeat(200))),
  message(2),
  withTail(varint(2 * 8 + 2), Buffer.from([0x87, 0x00, ...number(2, NOW_MS)])),
];
const OTHERS = [...SAMPLES, label('late', 'b'), message(4, number(1, 3)), message(3, bytes(1, 'exemplar'))];
const seriesOf = (parts: fc.Arbitrary<Buffer[]>) =>
  fc.tuple(labels, parts).map(([{ from, to }, rest]) => message(1, ...LABELS.slice(from, to), ...rest));
const series = fc.oneof(
  { weight: 6, arbitrary: seriesOf(fc.constantFrom(...SAMPLES.map((one) => [one]))) },
  { weight: 2, arbitrary: seriesOf(fc.array(fc.constantFrom(...OTHERS), { maxLength: 3 })) },
);
const metadata = fc.constantFrom(message(3, number(1, 2), bytes(2, 'm_total')), message(3, bytes(2, 'other')));
const request = fc
  .tuple(fc.array(series, { maxLength: 8 }), fc.option(metadata, { freq: 8, nil: undefined }))
  .map(([parts, about]) => writeRequest(...parts, ...(about === undefined ? [] : [about])));

test('remembered series change no result, whatever the order and encoding of requests', () => {
  fc.assert(
    fc.property(fc.array(request, { maxLength: 6 }), (requests) => {
      const memory = new SeriesMemory();
      for (const body of requests) expect(outcome(body, memory)).toEqual(outcome(body, new SeriesMemory()));
    }),
    { numRuns: 600 },
  );
});

const host = (name: string, value: number) =>
  message(1, label('__name__', 'up'), label('host', name), sample(value, NOW_MS));
const hosts = (...names: string[]) => writeRequest(...names.map((name, i) => host(name, i)));

test.each<[string, string[]]>([
  ['the same again', ['a', 'b', 'c', 'd']],
  ['one less at the beginning', ['b', 'c', 'd']],
  ['one less midway', ['a', 'c', 'd']],
  ['one more midway', ['a', 'b', 'new', 'c', 'd']],
  ['backwards', ['d', 'c', 'b', 'a']],
  ['one twice', ['a', 'a', 'b', 'b']],
  ['with one whose labels begin alike', ['a', 'bb', 'b', 'c']],
])('a request that is %s is read as it stands', (_, names) => {
  const memory = new SeriesMemory();
  for (const body of [hosts('a', 'b', 'c', 'd'), hosts(...names), hosts('a', 'b', 'c', 'd'), hosts(...names)]) {
    expect(outcome(body, memory)).toEqual(outcome(body, new SeriesMemory()));
  }
  expect(shortOf(decode(hosts(...names), memory))).toEqual(names.map((name, i) => `up{host=${name}} ${i} gauge`));
});

test('a series is the same object from request to request, so that it was not read again', () => {
  const memory = new SeriesMemory();
  const [first, again] = [decode(hosts('a', 'b'), memory), decode(hosts('b', 'a', 'b'), memory)];
  expect(again.points.series.map((one) => first.points.series.indexOf(one))).toEqual([1, 0, 1]);
});

function allowanceOf(max: number): SeriesAllowance & { readonly asked: string[] } {
  const known = new Set<string>();
  const asked: string[] = [];
  return {
    asked,
    sign: Symbol('test'),
    pay: () => {},
    admit(high, low) {
      const key = `${high} ${low}`;
      asked.push(key);
      if (known.size < max) known.add(key);
      return known.has(key) ? null : 'too many';
    },
  };
}

test('an allowance is asked once about what it admits, each for itself, and again about what it refuses', () => {
  const memory = new SeriesMemory();
  const [wide, narrow] = [allowanceOf(9), allowanceOf(1)];
  const taken = (allowance: SeriesAllowance) =>
    pointsOf(decode(hosts('a', 'b'), memory, pointLimits(30, allowance))).map(({ labels }) => labels['host']);
  for (let i = 0; i < 3; i += 1) expect(taken(wide)).toEqual(['a', 'b']);
  expect(wide.asked).toHaveLength(4); // for reading them, and for the first time that they are remembered
  for (let i = 0; i < 3; i += 1) expect(taken(narrow)).toEqual(['a']);
  expect(narrow.asked.slice(0, 1)).toEqual(wide.asked.slice(0, 1));
  expect(taken(wide)).toEqual(['a', 'b']);
});
