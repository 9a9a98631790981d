import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import type { HostilePort, HostileTarget } from './bodies.ts';

const PIPELINED = 3_000;
const ANSWERED_WITHIN_MS = 20_000;
const SLOW_BODY_BYTES = 16 * 1024 * 1024;
const PIECES = 400_000;

/** Lists attacks on the connections of HTTP, rather than on a request. */
export function hostileConnections({ baseUrl, apiKey, ingestionKey }: HostileTarget): readonly HostilePort[] {
  const { hostname, port } = new URL(baseUrl);
  const open = () => connect(Number(port), hostname);
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const pipelined = (path: string): HostilePort => {
    const bytes = Buffer.from(get(path).repeat(PIPELINED));
    const send = () => answersOver(open(), bytes, PIPELINED);
    return { kind: `no key: ${PIPELINED} × ${path} over one connection`, bytes: bytes.length, send, atOnce: 1 };
  };
  const post = (path: string, headers: string): Buffer =>
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${SLOW_BODY_BYTES}\r\n${headers}\r\n{`);
  const neverEnds = (kind: string, atOnce: number, head: Buffer): HostilePort => {
    return { kind, bytes: head.length, send: () => leftOpen(open(), head), atOnce };
  };
  const inPieces = (kind: string, headers: string, size: number): HostilePort => {
    const head = `POST /api/ingest/metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${headers}\r\n`;
    const chunk = `${size.toString(16)}\r\n${' '.repeat(size)}\r\n`;
    const bytes = Buffer.from(`${head}${chunk.repeat(Math.floor(PIECES / size))}0\r\n\r\n`);
    return { kind, bytes: bytes.length, send: () => answersOver(open(), bytes, 1), atOnce: 2 };
  };
  const key = `Authorization: Bearer ${ingestionKey}\r\nContent-Type: application/json\r\n`;
  const calls = `POST /api/rest/actions/list_services HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
  return [
    pipelined('/healthz'),
    pipelined('/metrics'),
    neverEnds('no key: 100 bodies that never come', 100, post('/api/ingest/metrics', '')),
    neverEnds('no key: 2,000 heads that never end', 2_000, Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n')),
    neverEnds('a good key: 100 bodies that never come', 100, post('/api/ingest/metrics', key)),
    inPieces('no key: a body in chunks of a byte', '', 1),
    inPieces('a good key: a body in chunks of a byte', key, 1),
    inPieces('a good key: a body in chunks of 20 bytes', key, 20),
    {
      kind: 'a good key: 40 connections',
      bytes: calls.length,
      send: () => answersOver(open(), Buffer.from(calls.repeat(50)), 50),
      atOnce: 40,
    },
  ];
}

/** Resolves to what the first answer was, once so many have come, or the connection has ended. */
async function answersOver(socket: Socket, bytes: Buffer, answers: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let heard = '';
  let seen = 0;
  socket.on('error', () => resolve()).on('close', () => resolve());
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard ||= text.slice(0, 40);
    seen += text.split('HTTP/1.1 ').length - 1;
    if (seen >= answers) resolve();
  });
  socket.write(bytes);
  await Promise.race([promise, delay(ANSWERED_WITHIN_MS, undefined, { ref: false })]);
  socket.destroy();
  return /^HTTP\/1\.1 (\d+)/.exec(heard)?.[1] ?? 'cut off';
}

/** Says nothing more for a second; how that ended. */
async function leftOpen(socket: Socket, bytes: Buffer): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let heard = '';
  socket.on('error', () => resolve('cut off')).on('close', () => resolve('cut off'));
  socket.setEncoding('latin1').on('data', (text: string) => (heard ||= text.slice(0, 40)));
  socket.write(bytes);
  const result = await Promise.race([promise, delay(1_000, 'open', { ref: false })]);
  socket.destroy();
  return /^HTTP\/1\.1 (\d+)/.exec(heard)?.[1] ?? result;
}
