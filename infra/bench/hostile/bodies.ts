import { gzipSync } from 'node:zlib';

export interface HostileRequest {
  readonly kind: string;
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Input for a port that does not speak HTTP/1. */
export interface HostilePort {
  readonly kind: string;
  /** Size of one datagram, body or connection. */
  readonly bytes: number;
  /** Sends once, and resolves to the name of how that ended. */
  readonly send: () => Promise<string>;
  /** Number of sends that are under way at the same time. */
  readonly atOnce: number;
}

/** The server and keys that the requests are sent with. */
export interface HostileTarget {
  readonly baseUrl: string;
  readonly organizationId: string;
  readonly serviceId: string;
  readonly projectId: string;
  readonly dsnKey: string;
  readonly ingestionKey: string;
  readonly apiKey: string;
  /** Cookie of a person who is signed in to the console. */
  readonly sessionCookie: string;
  readonly statsdPort: number;
  readonly grpcPort: number;
}

const MEGABYTE = 1024 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const PROTOBUF = { 'content-type': 'application/x-protobuf' };

/** The piece, repeated up to this many bytes. */
function fill(piece: string, bytes: number): string {
  return piece.repeat(Math.floor(bytes / piece.length));
}

function listOf(count: number, entry: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => entry(index)).join(',');
}

/** A protobuf field of bytes. */
function field(number: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([varint(number * 8 + 2), varint(length), ...parts]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A snappy block of literals only, about as long as its content. */
function snappy(bytes: Buffer): Buffer {
  const parts = [varint(bytes.length)];
  for (let at = 0; at < bytes.length; at += 60) {
    const literal = bytes.subarray(at, at + 60);
    parts.push(Buffer.of((literal.length - 1) << 2), literal);
  }
  return Buffer.concat(parts);
}

/** A snappy block that decompresses to the declared length, four bytes at a time. */
function snappyOfCopies(length: number): Buffer {
  const copies = Buffer.alloc(((length - 4) / 4) * 2);
  for (let at = 0; at < copies.length; at += 2) copies[at + 1] = 1;
  for (let at = 0; at < copies.length; at += 2) copies[at] = 1;
  return Buffer.concat([varint(length), Buffer.from([3 << 2, 0x0a, 0x00, 0x0a, 0x00]), copies]);
}

export function hostileRequests(target: HostileTarget): readonly HostileRequest[] {
  const sentry = `/api/${target.projectId}`;
  const signed = `?sentry_key=${target.dsnKey}`;
  const key = { authorization: `Bearer ${target.ingestionKey}` };
  const api = { authorization: `Bearer ${target.apiKey}`, ...JSON_TYPE };
  const make = (kind: string, path: string, headers: Record<string, string>, body: string | Buffer): HostileRequest => {
    return { kind, method: 'POST', path, headers, body: Buffer.from(body) };
  };
  const envelope = (event: string, id = true): string =>
    `${id ? '{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc"}' : '{}'}\n{"type":"event"}\n${event}\n`;
  const now = Date.now();
  const point = (index: number, pad = ''): string =>
    `{"name":"m${index % 100}","value":${index},"labels":{"a":"${index}","b":"${pad}"}}`;
  const otlpPoint = (index: number): string =>
    `{"timeUnixNano":"${now}000000","asDouble":${index},"attributes":[{"key":"i","value":{"stringValue":"${index}"}}]}`;
  const otlpJson = (points: string): string =>
    `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m","gauge":{"dataPoints":[${points}]}}]}]}]}`;
  const otlpProto = (points: Buffer): Buffer =>
    field(1, field(2, field(2, field(1, Buffer.from('m')), field(5, points))));
  const label = (name: string, value: string): Buffer =>
    field(1, field(1, Buffer.from(name)), field(2, Buffer.from(value)));
  const sample = field(2, Buffer.concat([Buffer.of(9), Buffer.alloc(8), Buffer.of(16), varint(now)]));
  const series = (index: number): Buffer =>
    field(1, label('__name__', `m${index % 100}`), label('i', String(index)), label('job', 'api'), sample);
  const anonymous = { origin: target.baseUrl, ...JSON_TYPE };
  const garbage = gzipSync(envelope(`{${fill('"":NaN,', 15 * MEGABYTE)}"a":1}`), { level: 1 });
  const form = { 'content-type': 'multipart/form-data; boundary=b' };
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="0"\r\n\r\n\r\n';
  const chunks = `/api/0/organizations/${target.organizationId}/chunk-upload/`;
  const report = '{"csp-report":{"blocked-uri":"https://a.example/","effective-directive":"img-src"}},';
  const mcp = { accept: 'application/json, text/event-stream' };
  const toolCall = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"take_lease","arguments":{${listOf(9_000, (i) => `"k${i}":1`)}}}}`;
  return [
    make('no key: upload of 8 MiB', chunks, form, fill(part, 8 * MEGABYTE)),
    make(
      'no key: releases of 1 MiB',
      `/api/0/organizations/${target.organizationId}/releases/`,
      JSON_TYPE,
      fill('{"a":', MEGABYTE),
    ),
    make('no key: 15.6 kB report', `${sentry}/security/`, {}, `[${fill(report, 15_600)}{}]`),
    make('no key: tunnel', '/api/ingest/envelope', {}, `{"dsn":"${fill('[', 15_600)}"}`),
    make('no key: tunnel, gzip', '/api/ingest/envelope', { 'content-encoding': 'gzip' }, garbage),
    make('no key: answer to a proposal', `/p/${'0'.repeat(40)}`, FORM, fill('pin=1&', 16_000)),
    make('no key: MCP of responders', '/api/mcp/responder', { ...mcp, ...JSON_TYPE }, toolCall),
    make('no key: 15.6 kB envelope', `${sentry}/envelope/`, {}, `{"a":${'['.repeat(15_600)}`),
    make('no key: 15.6 kB gzip of 15 MiB', `${sentry}/envelope/`, { 'content-encoding': 'gzip' }, garbage),
    make('no key: store', `${sentry}/store/`, {}, `{${fill('"":NaN,', 15_000)}"a":1}`),
    make(
      'sign-in with 90,000 unknown keys',
      '/api/console/session',
      anonymous,
      `{${listOf(90_000, (i) => `"k${i}":1`)}}`,
    ),
    make(
      'sign-in with 1,500 unknown keys',
      '/api/console/session',
      anonymous,
      `{${listOf(1_500, (i) => `"k${i}":1`)}}`,
    ),
    make('native JSON: 16 MiB of [', '/api/ingest/metrics', { ...key, ...JSON_TYPE }, '['.repeat(16 * MEGABYTE - 10)),
    make(
      'native JSON: 16 MiB of {},',
      '/api/ingest/metrics',
      { ...key, ...JSON_TYPE },
      `{"points":[${fill('{},', 16 * MEGABYTE - 40)}{}]}`,
    ),
    make(
      'native JSON: a million names',
      '/api/ingest/metrics',
      { ...key, ...JSON_TYPE },
      `{${listOf(1_000_000, (i) => `"k${i}":1`)}}`,
    ),
    make(
      'native JSON: 100,000 new series',
      '/api/ingest/metrics',
      { ...key, ...JSON_TYPE },
      `{"points":[${listOf(100_000, (i) => point(i, 'x'.repeat(80)))}]}`,
    ),
    make(
      'NDJSON: 16 MiB of empty lines',
      '/api/ingest/metrics',
      { ...key, 'content-type': 'application/x-ndjson' },
      '\n'.repeat(16 * MEGABYTE - 1),
    ),
    make(
      'OTLP JSON: 100,000 points',
      '/api/ingest/otlp/v1/metrics',
      { ...key, ...JSON_TYPE },
      otlpJson(listOf(100_000, otlpPoint)),
    ),
    make(
      'OTLP JSON: a million attributes',
      '/api/ingest/otlp/v1/metrics',
      { ...key, ...JSON_TYPE },
      otlpJson(`{"attributes":[${fill('{},', 3 * MEGABYTE)}{}]}`),
    ),
    make(
      'OTLP: 8 million empty points',
      '/api/ingest/otlp/v1/metrics',
      { ...key, ...PROTOBUF },
      otlpProto(Buffer.from(fill('\n\0', 16 * MEGABYTE - 100))),
    ),
    make(
      'OTLP: 8 million empty attributes',
      '/api/ingest/otlp/v1/metrics',
      { ...key, ...PROTOBUF },
      otlpProto(field(1, Buffer.from(fill(':\0', 16 * MEGABYTE - 100)))),
    ),
    make(
      'remote write: 100,000 new series',
      '/api/ingest/prometheus/write',
      { ...key, ...PROTOBUF, 'content-encoding': 'snappy' },
      snappy(Buffer.concat(Array.from({ length: 100_000 }, (_, i) => series(i)))),
    ),
    make(
      'remote write: 8 million empty series',
      '/api/ingest/prometheus/write',
      { ...key, ...PROTOBUF, 'content-encoding': 'snappy' },
      snappyOfCopies(16 * MEGABYTE - 4),
    ),
    make(
      'event of 1 MiB of "":NaN,',
      `${sentry}/envelope/${signed}`,
      { 'content-encoding': 'gzip' },
      gzipSync(envelope(`{${fill('"":NaN,', MEGABYTE - 20)}"a":1}`)),
    ),
    make(
      'ten events of 1 MiB without ids',
      `${sentry}/envelope/${signed}`,
      { 'content-encoding': 'gzip' },
      gzipSync(`{}\n${`{"type":"event"}\n{${fill('"a":{},', MEGABYTE - 20)}"b":1}\n`.repeat(10)}`, { level: 1 }),
    ),
    make(
      'event of 8 MiB to be trimmed',
      `${sentry}/envelope/${signed}`,
      { 'content-encoding': 'gzip' },
      gzipSync(
        envelope(
          `{"exception":[{"stacktrace":{"frames":[${fill('{"vars":{"a":"bbbbbbbbbbbbbbbbbbbb"}},', 8 * MEGABYTE - 200)}{}]}}]}`,
        ),
        { level: 1 },
      ),
    ),
    make(
      'envelope of 100 MiB',
      `${sentry}/envelope/${signed}`,
      { 'content-encoding': 'gzip' },
      gzipSync(Buffer.from(envelope(`{"message":"${'x'.repeat(99 * MEGABYTE)}"}`)), { level: 1 }),
    ),
    make(
      'envelope of 500 headers',
      `${sentry}/envelope/${signed}`,
      {},
      `{}\n${`{"type":"x",${fill('"a":{},', 2_000)}"b":1}\n\n`.repeat(500)}`,
    ),
    make('upload: 8 MiB of empty parts', chunks, { ...api, ...form }, fill(part, 8 * MEGABYTE)),
    make('upload: a part of 8 MiB', chunks, { ...api, ...form }, `${part}${fill('\r\n--', 8 * MEGABYTE)}\r\n--b--\r\n`),
    make(
      'report of 1 MiB',
      `${sentry}/security/${signed}`,
      { 'content-encoding': 'gzip' },
      gzipSync(`[${fill(report, MEGABYTE)}{}]`),
    ),
    make(
      'report of 99 MiB',
      `${sentry}/security/${signed}`,
      { 'content-encoding': 'gzip' },
      gzipSync(`[${fill('{"a":1},', 99 * MEGABYTE)}{}]`, { level: 1 }),
    ),
    make('MCP of responders: 9,000 unknown arguments', '/api/mcp/responder', { ...api, ...mcp }, toolCall),
    make(
      'action: 1 MiB of [[],',
      '/api/rest/actions/create_dashboard',
      api,
      `{"name":"x","layout":[${fill('[],', MEGABYTE - 100)}[]]}`,
    ),
    make('action: 9,000 unknown keys', '/api/rest/actions/create_team', api, `{${listOf(9_000, (i) => `"k${i}":1`)}}`),
    make(
      'action: 1 MiB of escapes',
      '/api/rest/actions/create_team',
      api,
      `{"name":"${fill(String.raw`\ud800`, MEGABYTE - 100)}"}`,
    ),
    make(
      'MCP: 9,000 unknown arguments',
      '/api/mcp',
      { ...api, accept: 'application/json, text/event-stream' },
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_team","arguments":{${listOf(9_000, (i) => `"k${i}":1`)}}}}`,
    ),
    make(
      'MCP: batch of 5,000',
      '/api/mcp',
      { ...api, accept: 'application/json, text/event-stream' },
      `[${listOf(5_000, (i) => `{"jsonrpc":"2.0","id":${i},"method":"x"}`)}]`,
    ),
    make(
      'MCP: batch of 20 large answers',
      '/api/mcp',
      { ...api, accept: 'application/json, text/event-stream' },
      `[${listOf(20, (i) => `{"jsonrpc":"2.0","id":${i},"method":"tools/list"}`)}]`,
    ),
  ];
}
