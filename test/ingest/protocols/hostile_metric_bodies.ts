import {
  bytes,
  double,
  label,
  message,
  number,
  sample,
  snappy,
  textAttribute,
  varint,
} from '#test/ingest/metric_bytes.ts';

interface HostileBody {
  readonly name: string;
  readonly protocol: 'json' | 'otlp' | 'write';
  readonly type: string;
  readonly body: Buffer;
}

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';

/** Bodies of about this many bytes that are made to take long for each of them. */
export function hostileMetricBodies(size: number, nowMs: number): readonly HostileBody[] {
  const fill = (piece: string, length = size): string => piece.repeat(Math.floor(length / piece.length));
  const entries = (entry: (i: number) => string, separator = ','): string => {
    const parts: string[] = [];
    for (let length = 0, i = 0; length < size; i += 1) length += parts[parts.push(entry(i)) - 1]!.length + 1;
    return parts.join(separator);
  };
  const fields = (entry: (i: number) => Buffer): Buffer => {
    const parts: Buffer[] = [];
    for (let length = 0, i = 0; length < size; i += 1) length += parts[parts.push(entry(i)) - 1]!.length;
    return Buffer.concat(parts);
  };
  const json = (name: string, text: string): HostileBody => {
    return { name: `native JSON: ${name}`, protocol: 'json', type: JSON_TYPE, body: Buffer.from(text) };
  };
  const lines = (name: string, text: string): HostileBody => {
    return { name: `NDJSON: ${name}`, protocol: 'json', type: 'application/x-ndjson', body: Buffer.from(text) };
  };
  const otlpJson = (name: string, text: string): HostileBody => {
    return { name: `OTLP JSON: ${name}`, protocol: 'otlp', type: JSON_TYPE, body: Buffer.from(text) };
  };
  const otlp = (name: string, body: Buffer): HostileBody => {
    return { name: `OTLP protobuf: ${name}`, protocol: 'otlp', type: PROTOBUF, body };
  };
  const write = (name: string, body: Buffer): HostileBody => {
    return { name: `remote write: ${name}`, protocol: 'write', type: PROTOBUF, body: snappy(body) };
  };
  const points = (text: string): string => `{"points":[${text}]}`;
  const jsonMetric = (data: string): string => `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${data}]}]}]}`;
  const jsonPoints = (text: string): string => jsonMetric(`{"name":"m","gauge":{"dataPoints":[${text}]}}`);
  const metric = (data: Buffer, kind = 5): Buffer =>
    message(1, message(2, message(2, bytes(1, 'm'), bytes(kind, data))));
  const manyLabels = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`l${63 - i}`, '']));
  return [
    json('only [', fill('[')),
    json('only {"a":', fill('{"a":')),
    json('empty points', points(`${fill('{},')}{}`)),
    json('empty lists', points(`${fill('[],')}[]`)),
    json('numbers', points(`${fill('1,')}1`)),
    json('points of one letter', points(entries(() => '{"name":"a","value":1}'))),
    json('a new series each', points(entries((i) => `{"name":"a","value":1,"labels":{"a":"${i}"}}`))),
    json('64 empty labels each', points(entries(() => JSON.stringify({ name: 'a', value: 1, labels: manyLabels })))),
    json('a thousand labels each', points(entries(() => `{"labels":{${fill('"":"",', 6_000)}"a":""}}`))),
    json('unknown properties', points(entries((i) => `{"k${i}":1}`))),
    json('a million names', `{${entries((i) => `"k${i}":1`)}}`),
    json('one point of many names', points(`{"labels":{${entries((i) => `"k${i}":1`)}}}`)),
    json('escapes', points(entries(() => `{"name":"${'\\u0061'.repeat(80)}","value":1}`))),
    json('unfinished escapes', `{"points":["${fill('\\"')}`),
    json('quotes', fill('"')),
    json('blanks', ` ${fill(' ')}`),
    json('times', points(entries(() => '{"name":"a","value":1,"at":"2026-11-22T10:00:00.123456789+01:00"}'))),
    json(
      'bad times',
      points(entries(() => `{"name":"a","value":1,"at":"${'2026-11-22T10:00:00.'.padEnd(90, '9')}x"}`)),
    ),
    json('numbers like hashes', points(entries((i) => `{"name":"a","value":1,"labels":{"a":"${i * 65_536}"}}`))),
    json('surrogates', points(entries(() => '{"name":"\\ud800","value":1,"labels":{"\\ud800":"\\ud800"}}'))),
    json('huge numbers', points(entries(() => `{"name":"a","value":${'9'.repeat(300)}e-${'9'.repeat(300)}}`))),
    lines('empty', fill('\n')),
    lines('only {', fill('{\n')),
    lines('{}', fill('{}\n')),
    lines('a letter each', fill('x\n')),
    lines(
      'points',
      entries((i) => `{"name":"a","value":1,"labels":{"a":"${i}"}}`, '\n'),
    ),
    lines('long ones', fill(`${'['.repeat(200_000)}\n`)),
    lines('deep ones', fill(`${'['.repeat(5_000)}${']'.repeat(5_000)}\n`)),
    otlpJson('only [', fill('[')),
    otlpJson('empty resources', `{"resourceMetrics":[${fill('{},')}{}]}`),
    otlpJson('empty scopes', `{"resourceMetrics":[{"scopeMetrics":[${fill('{},')}{}]}]}`),
    otlpJson('empty metrics', jsonMetric(`${fill('{},')}{}`)),
    otlpJson('empty points', jsonPoints(`${fill('{},')}{}`)),
    otlpJson('short points', jsonPoints(entries(() => '{"asInt":1}'))),
    otlpJson(
      'a new series each',
      jsonPoints(entries((i) => `{"asInt":1,"attributes":[{"key":"a","value":{"intValue":${i}}}]}`)),
    ),
    otlpJson('empty attributes', jsonPoints(`{"attributes":[${fill('{},')}{}]}`)),
    otlpJson(
      'attributes of a resource',
      `{"resourceMetrics":[{"resource":{"attributes":[${entries((i) => `{"key":"k${i}"}`)}]}}]}`,
    ),
    otlpJson(
      'nested attributes',
      jsonPoints(
        entries(() => `{"attributes":[{"value":${'{"arrayValue":{"values":['.repeat(8)}${']}}'.repeat(8)}}]}`),
      ),
    ),
    otlpJson('wide attributes', jsonPoints(`{"attributes":[{"value":{"arrayValue":{"values":[${fill('{},')}{}]}}}]}`)),
    otlpJson('long numbers', jsonPoints(entries(() => `{"asDouble":"${'1'.repeat(300)}"}`))),
    otlpJson('long strings that are no numbers', jsonPoints(entries(() => `{"asDouble":"${'1'.repeat(300)}x"}`))),
    otlpJson(
      'buckets',
      jsonMetric(
        `{"name":"m","histogram":{"aggregationTemporality":2,"dataPoints":[{"explicitBounds":[${entries((i) => String(i))}],"bucketCounts":[1,${entries(() => '1')}]}]}}`,
      ),
    ),
    otlpJson('quantiles', jsonMetric(`{"name":"m","summary":{"dataPoints":[{"quantileValues":[${fill('{},')}{}]}]}}`)),
    otlp('empty points', metric(Buffer.from(fill('\n\0')))),
    otlp('points of one byte', metric(Buffer.from(fill('\n\u0001\u0008')))),
    otlp('empty attributes', metric(bytes(1, fill(':\0')))),
    otlp('short attributes', metric(bytes(1, Buffer.from(fill(':\u0002\n\0'))))),
    otlp('a new series each', metric(fields((i) => message(1, textAttribute(7, 'a', String(i)), double(4, 1))))),
    otlp('empty metrics', message(1, bytes(2, fill('\u0012\0')))),
    otlp('empty scopes', bytes(1, fill('\u0012\0'))),
    otlp('empty resources', Buffer.from(fill('\n\0'))),
    otlp(
      'names',
      message(
        1,
        message(
          2,
          bytes(
            2,
            fields((i) => bytes(1, `m${i}`)),
          ),
        ),
      ),
    ),
    otlp(
      'resource attributes',
      message(
        1,
        bytes(
          1,
          fields((i) => message(1, bytes(1, `k${i}`))),
        ),
      ),
    ),
    otlp('unknown fields', Buffer.from(fill('\u0078\u0001'))),
    otlp(
      'long varints',
      Buffer.concat(
        Array.from({ length: size / 11 }, () =>
          Buffer.from([0x78, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ),
      ),
    ),
    otlp('nested attributes', metric(fields(() => message(1, message(7, bytes(2, nested(7))))))),
    otlp('buckets', metric(message(1, bytes(6, Buffer.alloc(size / 2)), bytes(7, Buffer.alloc(size / 2))), 9)),
    otlp('quantiles', metric(bytes(1, fill('2\0')), 11)),
    otlp('temporalities', metric(Buffer.from(fill('\u0010\u0002')), 7)),
    write('empty series', Buffer.from(fill('\n\0'))),
    write('empty labels', bytes(1, fill('\n\0'))),
    write('series with one empty label', Buffer.from(fill('\n\u0002\n\0'))),
    write('empty samples', bytes(1, Buffer.concat([label('__name__', 'm'), Buffer.from(fill('\u0012\0'))]))),
    write(
      'a new series each',
      fields((i) => message(1, label('__name__', 'm'), label('i', String(i)), sample(1, nowMs))),
    ),
    write(
      'short new series',
      fields((i) => message(1, label('__name__', `m${i}`), message(2, number(2, nowMs)))),
    ),
    write(
      'many labels',
      fields((i) =>
        message(
          1,
          label('__name__', 'm'),
          ...Array.from({ length: 60 }, (_, l) => label(`${l}`, `${i}`)),
          sample(1, nowMs),
        ),
      ),
    ),
    write(
      'unsorted labels',
      fields((i) =>
        message(
          1,
          ...Array.from({ length: 60 }, (_, l) => label(`${99 - l}`, `${i % 9}`)),
          label('__name__', 'm'),
          sample(1, nowMs),
        ),
      ),
    ),
    write(
      'metadata',
      fields((i) => message(3, number(1, 1), bytes(2, `m${i}`))),
    ),
    write('empty metadata', Buffer.from(fill('\u001a\0'))),
    write('exemplars', bytes(1, fill('\u001a\0'))),
    write(
      'histograms',
      fields(() => message(1, label('__name__', 'm'), message(4))),
    ),
    write(
      'text that is not UTF-8',
      fields(() => message(1, label('__name__', Buffer.alloc(500, 0xff)), sample(1, nowMs))),
    ),
    { ...write('copies of a byte', Buffer.alloc(0)), body: snappyOfCopies(size) },
    { ...write('literals of a byte', Buffer.alloc(0)), body: snappyOfLiterals(size) },
  ];
}

function nested(depth: number): Buffer {
  return depth === 0 ? Buffer.alloc(0) : message(5, message(1, nested(depth - 1)));
}

/** A valid block of copies of 4 bytes from the byte before. */
function snappyOfCopies(size: number): Buffer {
  const copies = Buffer.alloc(size, Buffer.from([0x01, 0x01]));
  return Buffer.concat([varint(1 + copies.length * 2), Buffer.from([0x00, 0x0a]), copies]);
}

function snappyOfLiterals(size: number): Buffer {
  return Buffer.concat([varint(size / 2), Buffer.alloc(size, Buffer.from([0x00, 0x0a]))]);
}
