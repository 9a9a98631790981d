import { gunzipSync } from 'node:zlib';

import { describe, expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { decodeOtlpMetrics, encodeOtlpAnswer } from '#ingest/protocols/otlp_metrics.ts';
import {
  attribute,
  bytes,
  double,
  fixed64,
  freshLimits,
  message,
  NOW,
  NOW_MS,
  number,
  otlpRequest,
  pointsOf,
  recording,
  shortOf,
  textAttribute,
} from '#test/ingest/metric_bytes.ts';
import { seriesKey } from '#test/kit/metrics/points.ts';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json; charset=utf-8';
const decode = (body: Buffer, limits = freshLimits()) => finish(decodeOtlpMetrics(body, PROTOBUF, NOW, limits));
const decodeJson = (body: unknown, limits = freshLimits()) =>
  finish(decodeOtlpMetrics(Buffer.from(JSON.stringify(body)), JSON_TYPE, NOW, limits));

const TIME = BigInt(NOW_MS) * 1_000_000n;
const time = fixed64(3, TIME);
const gauge = (name: string, ...points: Buffer[]) =>
  message(2, bytes(1, name), message(5, ...points.map((point) => bytes(1, point))));
const sum = (name: string, temporality: number, isMonotonic: number, value: number) =>
  message(
    2,
    bytes(1, name),
    message(7, message(1, time, double(4, value)), number(2, temporality), number(3, isMonotonic)),
  );
const point = (...fields: Buffer[]) => Buffer.concat([time, ...fields]);

describe('recorded requests of the OpenTelemetry SDK for JavaScript', () => {
  const host = 'host.name=kit-host,';
  const scope = 'otel_scope_name=kit,';
  const service = 'service.name=kit-otel';
  const buckets = [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6];
  const bounds = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000, '+Inf'];
  const requests = (kind: string) => [
    `kit.requests{code=200,${host}${scope}route=/a,${service}} 3 ${kind}`,
    `kit.requests{code=500,${host}${scope}route=/b,${service}} 2 ${kind}`,
  ];
  const latency = (kind: string) => [
    `kit.latency_count{${host}${scope}route=/a,${service}} 6 ${kind}`,
    `kit.latency_sum{${host}${scope}route=/a,${service}} 9518 ${kind}`,
    `kit.latency_min{${host}${scope}route=/a,${service}} 1 gauge`,
    `kit.latency_max{${host}${scope}route=/a,${service}} 9000 gauge`,
  ];
  const rest = (kind: string) => [
    `kit.inflight{${host}${scope}${service}} 3 gauge`,
    `kit.temp{${host}${scope}${service}} 21.5 gauge`,
    `kit.obs{${host}${scope}${service},zone=a} 7.25 gauge`,
    `kit.obscount{${host}${scope}${service}} 1234567890123 ${kind}`,
  ];
  const withDeltas = [
    ...requests('delta'),
    ...buckets.map(
      (count, i) => `kit.latency_bucket{${host}le=${bounds[i]},${scope}route=/a,${service}} ${count} delta`,
    ),
    ...latency('delta'),
    ...rest('delta'),
  ];

  test.each([
    ['JSON', JSON_TYPE, recording('otlp-json-1.json'), 1_795_258_215_870, withDeltas],
    ['protobuf', PROTOBUF, recording('otlp-proto-1.bin'), 1_795_258_216_273, withDeltas],
    [
      'cumulative protobuf with exponential histograms',
      PROTOBUF,
      gunzipSync(recording('otlp-gz-1.bin')),
      1_795_258_216_642,
      [
        ...latency('counter'),
        ...[
          '0.917004...1',
          '6.72717...7.33603',
          '29.3441...32',
          '76.1093...82.9977',
          '394.806...430.539',
          '8933.44...9741.98',
        ].map((range) => `kit.latency_bucket{${host}${scope}route=/a,${service},vmrange=${range}} 1 counter`),
        ...requests('counter'),
        ...rest('counter').concat(rest('start').slice(3)),
      ],
    ],
  ])('%s becomes exactly these points', (_, type, body, at, expected) => {
    const decoded = finish(decodeOtlpMetrics(body, type, NOW, freshLimits()));
    const isStart = (text: string): boolean => text.endsWith(' 0 start');
    expect(shortOf(decoded).filter((text) => !isStart(text))).toEqual(expected);
    // Each counter of a service that was not heard of begins where its sender says that it does, one at its sample.
    const counters = expected.filter((text) => text.endsWith(' counter') && !text.startsWith('kit.obscount'));
    expect(shortOf(decoded).filter(isStart)).toEqual(counters.map((text) => text.replace(/ \S+ counter$/, ' 0 start')));
    const samples = pointsOf(decoded).filter(({ kind }) => kind !== 'start');
    expect(new Set(samples.map((sample) => sample.at))).toEqual(new Set([at]));
    expect(decoded).toMatchObject({ rejected: { count: 0, reasons: [] }, dropped: 0 });
    for (const { name, labels, key } of decoded.points.series) expect(key).toBe(seriesKey(name, labels));
  });
});

describe('kinds', () => {
  test('cumulative sums are counters, or gauges when they may fall; deltas stay deltas', () => {
    const decoded = decode(
      otlpRequest([], sum('a', 2, 1, 1), sum('b', 2, 0, 2), sum('c', 1, 1, 3), sum('d', 1, 0, -4)),
    );
    expect(shortOf(decoded)).toEqual(['a 1 counter', 'b 2 gauge', 'c 3 delta', 'd -4 delta']);
  });

  test('a sum without a temporality is refused', () => {
    expect(decode(otlpRequest([], sum('a', 0, 1, 1))).rejected).toEqual({
      count: 1,
      reasons: [{ message: 'a sum without an aggregation temporality', count: 1, places: ['a'] }],
    });
  });

  test('a summary becomes its quantiles, count and sum', () => {
    const quantile = (q: number, value: number) => message(6, double(1, q), double(2, value));
    const body = point(fixed64(4, 10n), double(5, 2.5), quantile(0.5, 0.2), quantile(0.99, 0.9));
    const decoded = decode(otlpRequest([], message(2, bytes(1, 's'), message(11, bytes(1, body)))));
    expect(shortOf(decoded)).toEqual([
      's{quantile=0.5} 0.2 gauge',
      's{quantile=0.99} 0.9 gauge',
      's_count 10 counter',
      's_sum 2.5 counter',
    ]);
  });

  test('a point that says it has no value ends its series', () => {
    const ended = point(number(8, 1));
    const histogram = message(
      2,
      bytes(1, 'h'),
      message(9, number(2, 2), bytes(1, point(number(10, 1), bytes(7, double(1, 1).subarray(1))))),
    );
    expect(shortOf(decode(otlpRequest([], gauge('g', ended), histogram)))).toEqual([
      'g 0 stale',
      'h_bucket{le=1} 0 stale',
      'h_bucket{le=+Inf} 0 stale',
      'h_count 0 stale',
    ]);
  });

  test('integers, negative ones too, and the time of arrival where none was sent', () => {
    const decoded = decode(otlpRequest([], gauge('g', point(fixed64(6, -7n)), double(4, 1))));
    expect(pointsOf(decoded).map(({ value, at }) => [value, at])).toEqual([
      [-7, NOW_MS],
      [1, NOW_MS],
    ]);
  });

  test.each([
    ['counts and bounds that do not match', [1, 2], [1, 2]],
    ['bounds that do not rise', [1, 2, 3], [5, 5]],
    ['bounds of which one is infinite', [1, 2, 3], [-Infinity, 2]],
  ])('a histogram with %s is refused as a whole', (_, counts, bounds) => {
    const dataPoint = {
      timeUnixNano: String(TIME),
      count: 3,
      sum: 1,
      bucketCounts: counts,
      explicitBounds: bounds.map(String),
    };
    const decoded = decodeJson({
      resourceMetrics: [
        {
          scopeMetrics: [
            { metrics: [{ name: 'h', histogram: { aggregationTemporality: 2, dataPoints: [dataPoint] } }] },
          ],
        },
      ],
    });
    expect(decoded.points.length).toBe(0);
    expect(decoded.rejected.reasons).toEqual([
      { message: 'buckets that do not match their bounds', count: 1, places: ['h'] },
    ]);
  });

  test.each([
    ['with a bucket above it', [5, 2, 3, 0], ['5', '7', '10']],
    ['without one', [5, 2, 3], ['5', '7', '10']],
    ['with observations above it', [5, 2, 3, 4], ['5', '7', '14']],
  ])('the bound +Inf of the last bucket may be sent, %s', (_, bucketCounts, expected) => {
    const dataPoint = { timeUnixNano: String(TIME), count: 10, explicitBounds: [1, 2, 'Infinity'], bucketCounts };
    const histogram = { aggregationTemporality: 2, dataPoints: [dataPoint] };
    const decoded = decodeJson({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'h', histogram }] }] }] });
    expect(shortOf(decoded)).toEqual([
      ...['1', '2', '+Inf'].map((le, place) => `h_bucket{le=${le}} ${expected[place]} counter`),
      'h_count 10 counter',
    ]);
  });

  test('unpacked bucket lists are read like packed ones', () => {
    const body = point(fixed64(4, 3n), fixed64(6, 1n), fixed64(6, 2n), double(7, 0.5));
    const decoded = decode(otlpRequest([], message(2, bytes(1, 'h'), message(9, bytes(1, body), number(2, 2)))));
    expect(shortOf(decoded)).toEqual([
      'h_bucket{le=0.5} 1 counter',
      'h_bucket{le=+Inf} 3 counter',
      'h_count 3 counter',
    ]);
  });
});

describe('attributes', () => {
  const shown = (...attributes: Buffer[]) =>
    shortOf(decode(otlpRequest([], gauge('g', point(double(4, 1), ...attributes)))))[0];

  test('attributes of every type become texts', () => {
    const list = message(5, message(1, bytes(1, 'x')), message(1, number(3, 2)));
    const map = message(6, message(1, bytes(1, 'k'), message(2, number(2, 1))));
    expect(shown(attribute(7, 'a', number(2, 1)))).toBe('g{a=true} 1 gauge');
    expect(shown(attribute(7, 'a', number(3, -5n)))).toBe('g{a=-5} 1 gauge');
    expect(shown(attribute(7, 'a', number(3, 9_007_199_254_740_993n)))).toBe('g{a=9007199254740993} 1 gauge');
    expect(shown(attribute(7, 'a', double(4, 0.5)))).toBe('g{a=0.5} 1 gauge');
    expect(shown(attribute(7, 'a', bytes(7, Buffer.from([1, 2]))))).toBe('g{a=AQI=} 1 gauge');
    expect(shown(attribute(7, 'a', list))).toBe('g{a=["x",2]} 1 gauge');
    expect(shown(attribute(7, 'a', map))).toBe('g{a={"k":true}} 1 gauge');
    expect(shown(attribute(7, 'a', Buffer.alloc(0)), textAttribute(7, 'b', ''))).toBe('g 1 gauge');
  });

  test('nested deeper than eight make the body 400, in protobuf and JSON', () => {
    let inner = bytes(1, 'x');
    let value: unknown = { stringValue: 'x' };
    for (let i = 0; i < 9; i += 1) {
      inner = message(5, message(1, inner));
      value = { arrayValue: { values: [value] } };
    }
    const refusal = expect.objectContaining({ code: 'invalid_input' });
    expect(() => shown(attribute(7, 'a', inner))).toThrow(refusal);
    const attributes = [{ key: 'a', value }];
    expect(() => decodeJson({ resourceMetrics: [{ resource: { attributes } }] })).toThrow(refusal);
  });

  test('attributes of the resource become labels where they distinguish senders, and the point’s own come first', () => {
    const resource = [
      textAttribute(1, 'service.name', 'shop'),
      textAttribute(1, 'service.instance.id', 'i-1'),
      textAttribute(1, 'process.pid', '17'),
      textAttribute(1, 'telemetry.sdk.language', 'go'),
      textAttribute(1, 'process.command_args', 'x'.repeat(2000)),
    ];
    const metric = gauge('g', point(double(4, 1), textAttribute(7, 'service.name', 'other')));
    expect(shortOf(decode(otlpRequest(resource, metric)))).toEqual([
      'g{resource_service.name=shop,service.instance.id=i-1,service.name=other} 1 gauge',
    ]);
    const own = { asDouble: 1, attributes: [{ key: 'otel_scope_name', value: { stringValue: 'mine' } }] };
    const ofScope = { scope: { name: 'kit' }, metrics: [{ name: 'g', gauge: { dataPoints: [own] } }] };
    expect(shortOf(decodeJson({ resourceMetrics: [{ scopeMetrics: [ofScope] }] }))).toEqual([
      'g{otel_scope_name=mine} 1 gauge',
    ]);
  });

  test('the process tells instances apart where nothing better does', () => {
    const resource = [textAttribute(1, 'service.name', 'shop'), attribute(1, 'process.pid', number(3, 17))];
    expect(shortOf(decode(otlpRequest(resource, gauge('g', point(double(4, 1))))))).toEqual([
      'g{process.pid=17,service.name=shop} 1 gauge',
    ]);
  });
});

describe('refusals', () => {
  test('say which and why, and leave the rest', () => {
    const decoded = decode(
      otlpRequest(
        [],
        gauge('inf', point(double(4, Infinity), textAttribute(7, 'zone', 'a'))),
        gauge('nan', point(double(4, NaN))),
        gauge('empty', point()),
        gauge('old', Buffer.concat([fixed64(3, 1n), double(4, 1)])),
        gauge('', point(double(4, 1))),
        message(2, bytes(1, Buffer.from([0xff])), message(5, bytes(1, point(double(4, 1))))),
        gauge('good', point(double(4, 1))),
      ),
    );
    expect(shortOf(decoded)).toEqual(['good 1 gauge']);
    expect(decoded.dropped).toBe(1);
    expect(decoded.rejected.reasons.map(({ message, places }) => [message, ...places])).toEqual([
      ['an infinite value', 'inf{zone="a"}'],
      ['a point without a value', 'empty'],
      ['a time older than the 30 days that the service keeps', 'old'],
      ['no metric name', '(no name)'],
      ['a text that is not UTF-8', '(no name)'],
    ]);
  });

  test('a histogram that does not fit in the limit of a request is refused as a whole', () => {
    const histogram = message(
      2,
      bytes(1, 'h'),
      message(9, number(2, 2), bytes(1, point(fixed64(4, 1n), fixed64(6, 1n)))),
    );
    const decoded = decode(otlpRequest([], gauge('g', point(double(4, 1))), histogram), {
      ...freshLimits(),
      pointsMax: 5,
    });
    expect(shortOf(decoded)).toEqual(['g 1 gauge']);
    expect(decoded.rejected.count).toBe(5);
  });

  test.each([
    ['cut', Buffer.from([0x0a, 0x05, 0x0a])],
    ['text', Buffer.from('hello')],
    ['a list that is no whole number of entries', otlpRequest([], message(2, message(9, message(1, bytes(6, 'abc')))))],
  ])('a protobuf body that is %s is 400', (_, body) => {
    expect(() => decode(body)).toThrow(expect.objectContaining({ code: 'invalid_input' }));
  });

  test('an empty protobuf body is an empty request', () => {
    expect(decode(Buffer.alloc(0))).toMatchObject({ points: { length: 0 }, rejected: { count: 0 } });
  });

  const ofMetric = (metric: object) => ({
    resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'a', ...metric }] }] }],
  });

  test.each([
    [[], 'the body: an object is expected here'],
    [{ resourceMetrics: 5 }, 'resourceMetrics: a list is expected here'],
    [{ resource_metrics: [] }, "resource_metrics is not known in OTLP's JSON: send resourceMetrics"],
    [{ resourceMetrics: [{ scope_metrics: [] }] }, "scope_metrics is not known in OTLP's JSON: send scopeMetrics"],
    [
      ofMetric({ exponential_histogram: {} }),
      "exponential_histogram is not known in OTLP's JSON: send exponentialHistogram",
    ],
    [ofMetric({ gauge: { data_points: [] } }), "data_points is not known in OTLP's JSON: send dataPoints"],
    [ofMetric({ sum: { is_monotonic: true } }), "is_monotonic is not known in OTLP's JSON: send isMonotonic"],
    [ofMetric({ gauge: { dataPoints: [{ as_int: 1 }] } }), "as_int is not known in OTLP's JSON: send asInt"],
    [
      ofMetric({ gauge: { dataPoints: [{ attributes: [{ key: 'a', value: { int_value: 1 } }] }] } }),
      "int_value is not known in OTLP's JSON: send intValue",
    ],
    [
      { resourceMetrics: [{}, { scopeMetrics: ['x'] }] },
      'resourceMetrics[1].scopeMetrics[0]: an object is expected here',
    ],
    [
      { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ gauge: { dataPoints: [{ asDouble: 'x' }] } }] }] }] },
      'resourceMetrics[0].scopeMetrics[0].metrics[0].gauge.dataPoints[0].asDouble: a number is expected here',
    ],
  ])('the JSON body %j is 400: %s', (body, sentence) => {
    expect(() => decodeJson(body)).toThrow(expect.objectContaining({ code: 'invalid_input', message: sentence }));
  });

  test('JSON takes numbers as texts, enumerations by name and null as absent', () => {
    const dataPoints = [{ asInt: '42', timeUnixNano: String(TIME), attributes: null, flags: null }];
    const sum = { aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE', isMonotonic: true, dataPoints };
    const decoded = decodeJson({
      resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'a', sum, unknown: 1 }] }] }],
    });
    expect(shortOf(decoded)).toEqual(['a 42 counter']);
  });

  test.each(['text/plain', undefined])('the type %s is 415', (type) => {
    expect(() => finish(decodeOtlpMetrics(Buffer.alloc(0), type, NOW, freshLimits()))).toThrow(
      expect.objectContaining({ code: 'unsupported_media_type' }),
    );
  });

  test('a body over the limit is 413', () => {
    expect(() => decode(Buffer.alloc(9), { ...freshLimits(), bodyBytesMax: 8 })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    );
  });
});

describe('the answer', () => {
  const typeChanges = { count: 0, named: [] };
  const none = { rejected: { count: 0, reasons: [] }, typeChanges };
  const reasons = [{ message: 'an infinite value', count: 300, places: ['a', 'b'] }];
  const some = { rejected: { count: 300, reasons }, typeChanges };
  const sentence = '300 points refused: an infinite value (300: a, b, …)';

  test('is empty when everything was taken', () => {
    expect(encodeOtlpAnswer(none, PROTOBUF)).toEqual({ contentType: PROTOBUF, body: Buffer.alloc(0) });
    expect(encodeOtlpAnswer(none, JSON_TYPE)).toEqual({ contentType: 'application/json', body: Buffer.from('{}') });
  });

  test('says how many points were refused and why, in the encoding of the request', () => {
    expect(encodeOtlpAnswer(some, PROTOBUF).body).toEqual(message(1, number(1, 300), bytes(2, sentence)));
    expect(JSON.parse(encodeOtlpAnswer(some, JSON_TYPE).body.toString())).toEqual({
      partialSuccess: { rejectedDataPoints: '300', errorMessage: sentence },
    });
  });
});

test.each(['resourceLogs', 'resourceSpans', 'resourceProfiles'])(
  '%s are refused, not answered as if kept',
  (signal) => {
    expect(() => decodeJson({ [signal]: [] })).toThrow(`${signal} are not kept`);
    expect(shortOf(decodeJson({ ofTomorrow: [] }))).toEqual([]);
  },
);
