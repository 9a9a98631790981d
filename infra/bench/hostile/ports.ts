import { createSocket } from 'node:dgram';
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import type { HostilePort, HostileTarget } from './bodies.ts';
import { http2Floods } from './http2_floods.ts';

const EXPORT = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';
const DATAGRAM_BYTES = 60_000;
const BODY_BYTES = 8 * 1024 * 1024;
const DATAGRAMS_AT_ONCE = 32;
const GIVEN_UP_AFTER_MS = 5_000;

/** The ports beside HTTP, without a good key. */
export function hostilePorts({ statsdPort, grpcPort, ingestionKey }: HostileTarget): readonly HostilePort[] {
  const fill = (piece: string): Buffer => Buffer.from(piece.repeat(Math.floor(DATAGRAM_BYTES / piece.length)));
  let sent = 0;
  const badKey = (): string => `ing_${String((sent += 1)).padStart(40, '0')}`;
  const datagrams = (kind: string, make: () => Buffer): HostilePort => {
    const socket = createSocket('udp4').unref();
    const send = async (): Promise<string> => {
      const datagram = make();
      await Promise.all(
        Array.from(
          { length: DATAGRAMS_AT_ONCE },
          () => new Promise((resolve) => socket.send(datagram, statsdPort, '127.0.0.1', resolve)),
        ),
      );
      // The ordinary sender has its turn.
      await delay(1);
      return `${DATAGRAMS_AT_ONCE} datagrams`;
    };
    return { kind: `StatsD: ${kind}`, bytes: DATAGRAM_BYTES, send, atOnce: 1 };
  };
  const calls = (kind: string, headers: () => Record<string, string>): HostilePort => ({
    kind: `gRPC: ${kind}`,
    bytes: BODY_BYTES,
    send: () => callOnce(grpcPort, headers()),
    atOnce: 4,
  });
  return [
    datagrams('no key, short lines', () => fill('a:1|c\n')),
    datagrams('no key, one long line', () => fill('a')),
    datagrams('a bad key, short lines', () => fill(`a:1|c|#ingestion_key:${'0'.repeat(30)}\n`)),
    datagrams('a new bad key each', () =>
      Buffer.from(Array.from({ length: 500 }, () => `a:1|c|#ingestion_key:${badKey()}`).join('\n')),
    ),
    datagrams('a new bad key each, sets of long members', () =>
      Buffer.from(`a:${'x'.repeat(15_000)}${sent}|s|#ingestion_key:${badKey()}\n`.repeat(3)),
    ),
    datagrams('a good key, sets of long members', () =>
      Buffer.from(
        Array.from({ length: 4 }, () => `a:${'x'.repeat(14_000)}${(sent += 1)}|s|#ingestion_key:${ingestionKey}`).join(
          '\n',
        ),
      ),
    ),
    datagrams('a good key, many values', () =>
      Buffer.from(
        Array.from({ length: 4 }, () => `t${':1.5'.repeat(3_700)}|ms|#ingestion_key:${ingestionKey}`).join('\n'),
      ),
    ),
    datagrams('a good key, new series', () =>
      Buffer.from(
        Array.from({ length: 600 }, () => `a:1|c|#i:${(sent += 1)},ingestion_key:${ingestionKey}`).join('\n'),
      ),
    ),
    calls('no key, 8 MiB', () => ({})),
    calls('a bad key, 8 MiB', () => ({ authorization: `Bearer ${badKey()}` })),
    calls('a good key, 8 MiB of zeros', () => ({ authorization: `Bearer ${ingestionKey}` })),
    calls('60 kB of headers', () => ({ authorization: `Bearer ${badKey()}`, 'x-much': 'x'.repeat(60_000) })),
    { kind: 'gRPC: idle connections', bytes: 0, send: () => connectOnce(grpcPort), atOnce: 1_000 },
    ...http2Floods(grpcPort, ingestionKey),
  ];
}

/** One call over a connection of its own, with as much of the body as the server lets come. */
async function callOnce(port: number, headers: Record<string, string>): Promise<string> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const { promise, resolve } = Promise.withResolvers<string>();
  session.on('error', () => resolve('cut off')).on('close', () => resolve('cut off'));
  const request = session.request({
    ...headers,
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: EXPORT,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  request.on('error', () => resolve('cut off'));
  request.on('response', (answer) => resolve(`status ${String(answer['grpc-status'])}`));
  request.resume();
  request.write(Buffer.concat([Buffer.from([0, 0, 0x80, 0, 0]), Buffer.alloc(BODY_BYTES)]));
  const result = await Promise.race([promise, delay(GIVEN_UP_AFTER_MS, 'no answer', { ref: false })]);
  session.destroy();
  return result;
}

/** A connection over which nothing is said; how it ended within a second. */
async function connectOnce(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('error', () => resolve('cut off')).on('close', () => resolve('cut off'));
  const result = await Promise.race([promise, delay(1_000, 'open', { ref: false })]);
  socket.destroy();
  return result;
}
