import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import type { HostilePort } from './bodies.ts';

const EXPORT = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  resetStream: 3,
  settings: 4,
  ping: 6,
  windowUpdate: 8,
  unknown: 0xfe,
};
const END_HEADERS = 4;
const BYTES = 4 * 1024 * 1024;
const CLOSED_WITHIN_MS = 5_000;
/** Stream of the first call. */
const STREAM = 1;

/** Frames of HTTP/2 that cost their sender next to nothing, with and without an open call of a good key. */
export function http2Floods(port: number, ingestionKey: string): readonly HostilePort[] {
  const flood = (kind: string, key: string | null, frames: Buffer): HostilePort => {
    const open = key === null ? [] : [headersOf(STREAM, key)];
    const bytes = Buffer.concat([PREFACE, frame('settings', 0, 0), ...open, frames]);
    return { kind: `gRPC: ${kind}`, bytes: bytes.length, send: () => sendAll(port, bytes), atOnce: 2 };
  };
  /** Calls after a first one. */
  const calls = (key: string, make: (stream: number) => readonly Buffer[]): Buffer => {
    const length = Math.floor(BYTES / Buffer.concat(make(1)).length);
    return Buffer.concat([headersOf(STREAM, key), ...Array.from({ length }, (_, index) => make(2 * index + 3)).flat()]);
  };
  const reset = (stream: number): Buffer[] => [sameHeaders(stream), frame('resetStream', 0, stream, Buffer.alloc(4))];
  return [
    flood('no key, settings', null, repeated(frame('settings', 0, 0))),
    flood('no key, pings', null, repeated(frame('ping', 0, 0, Buffer.alloc(8)))),
    flood('no key, priorities', null, repeated(frame('priority', 0, STREAM, Buffer.from([0, 0, 0, 3, 0])))),
    flood('no key, window updates', null, repeated(frame('windowUpdate', 0, 0, Buffer.from([0, 0, 0, 1])))),
    flood('no key, frames of an unknown type', null, repeated(frame('unknown', 0, 0))),
    flood(
      'no key, calls',
      null,
      calls('', (stream) => [sameHeaders(stream)]),
    ),
    flood('no key, calls that are reset', null, calls('', reset)),
    flood('a good key, calls that are reset', null, calls(ingestionKey, reset)),
    flood('a good key, empty data', ingestionKey, repeated(frame('data', 0, STREAM))),
    flood('a good key, data of a byte', ingestionKey, repeated(frame('data', 0, STREAM, Buffer.alloc(1)))),
    flood(
      'a good key, window updates',
      ingestionKey,
      repeated(frame('windowUpdate', 0, STREAM, Buffer.from([0, 0, 0, 1]))),
    ),
  ];
}

function repeated(frame: Buffer): Buffer {
  return Buffer.alloc(Math.floor(BYTES / frame.length) * frame.length, frame);
}

function frame(type: keyof typeof TYPES, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = TYPES[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** POST and http as they stand in the static table of HPACK (RFC 7541, appendix A). */
const POST_OVER_HTTP = [0x83, 0x86];

/** Returns the headers of a connection's first call. Those that later calls share go to HPACK's dynamic table. */
function headersOf(stream: number, key: string): Buffer {
  const headers = {
    ':path': EXPORT,
    ':authority': 'x',
    'content-type': 'application/grpc',
    te: 'trailers',
    'x-api-key': key,
  };
  const block = Object.entries(headers).flatMap(([name, value]) => [
    Buffer.from([0x40, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
  return frame('headers', END_HEADERS, stream, Buffer.concat([Buffer.from(POST_OVER_HTTP), ...block]));
}

/** Returns the headers of a later call, which has the same five. */
function sameHeaders(stream: number): Buffer {
  return frame('headers', END_HEADERS, stream, Buffer.from([...POST_OVER_HTTP, 0xc2, 0xc1, 0xc0, 0xbf, 0xbe]));
}

/** Sends bytes, and returns how that ended: the server closed the connection, or took everything. */
async function sendAll(port: number, bytes: Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('error', () => resolve('cut off')).on('close', () => resolve('closed'));
  socket.resume();
  socket.end(bytes);
  const result = await Promise.race([promise, delay(CLOSED_WITHIN_MS, 'left waiting', { ref: false })]);
  socket.destroy();
  return result;
}
