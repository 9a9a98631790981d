import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';

import { describe, expect, onTestFinished, test } from 'vitest';

import { requestsInPieces } from '#entry/http/connections/body_budget.ts';
import { limitPortConnections, portLimitsOf } from '#entry/http/ingest/ingest_ports.ts';
import { ReachedLimits } from '#kernel/reached_limits.ts';
import { silentLog } from '#kernel/log.ts';
import { guarded, opened, portOf } from '#test/contract/connection.ts';
import { testClock } from '#test/kit/clock.ts';
import { DEFAULT_LIMITS } from '#test/kit/limits.ts';
import { fileWorld } from '#test/kit/world.ts';
import { happenings, hurry } from '#test/kit/when.ts';

const w = await fileWorld();
await w.app.listen({ port: 0, host: '127.0.0.1' });
const port = (w.app.server.address() as AddressInfo).port;

const JSON_TYPE = 'content-type: application/json';
const BAD_KEY = `authorization: Bearer key_${'0'.repeat(40)}`;

test.each([
  [
    'an upload of source maps',
    '/api/0/organizations/acme/chunk-upload/',
    'content-type: multipart/form-data; boundary=b',
  ],
  ['an upload of source maps with a bad key', '/api/0/organizations/acme/chunk-upload/', BAD_KEY],
  ['a release', '/api/0/organizations/acme/releases/', JSON_TYPE],
  ['an artifact bundle', '/api/0/organizations/acme/artifactbundle/assemble/', JSON_TYPE],
  [
    'an upload that is not supported',
    '/api/0/projects/acme/shop/files/dsyms/',
    'content-type: multipart/form-data; boundary=b',
  ],
  ['a report of a browser', '/api/1/security/?sentry_key=0', 'content-type: application/csp-report'],
  ['a tunnelled envelope', '/api/ingest/envelope', 'content-type: text/plain'],
  ['a tunnelled envelope, compressed', '/api/ingest/envelope', 'content-encoding: gzip'],
  ['an answer to a proposal', `/p/${'0'.repeat(30)}`, 'content-type: application/x-www-form-urlencoded'],
  ['a message of an agent that responds', '/api/mcp/responder', JSON_TYPE],
  ['a message of an agent that responds, with a bad key', '/api/mcp/responder', BAD_KEY],
])('%s without a valid key is answered before more than 16 KiB of it are there', async (_what, path, header) => {
  const socket = await opened(port);
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 8000000\r\n${header}\r\n\r\n`;
  socket.write(head + '['.repeat(16 * 1024));
  expect(await socket.hears(/\r\n/)).toMatch(/^HTTP\/1\.1 (?:40[0-9]|413|501) /);
});

test('what is left of a refused envelope is passed over, and the connection serves the next request', async () => {
  const socket = await opened(port);
  const length = 200_000;
  const head = `Host: 127.0.0.1:${port}\r\nContent-Encoding: gzip\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(`POST /api/ingest/envelope HTTP/1.1\r\n${head}`);
  socket.write(gzipSync(randomBytes(length)).subarray(0, length));
  expect(await socket.hears(/\r\n/)).toMatch(/^HTTP\/1\.1 40[0-9] /);
  socket.heard = '';
  socket.write(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  expect(await socket.hears(/\r\n/)).toMatch(/^HTTP\/1\.1 200 /);
});

test('a form of more parts than are taken is refused without being read', async () => {
  const headers = { authorization: `Bearer ${w.orgKey}`, 'content-type': 'multipart/form-data; boundary=b' };
  const send = async (payload: string) => {
    const answer = await w.app.inject({
      method: 'POST',
      url: `/api/0/organizations/${w.orgId}/chunk-upload/`,
      headers,
      payload,
    });
    return [answer.statusCode, answer.body];
  };
  const part = '--b\r\ncontent-disposition: form-data; name="file"; filename="0"\r\n\r\n\r\n';
  // It ends in the middle: whoever reads it finds no form.
  expect(await send(part.repeat(1_000))).toEqual([413, expect.stringContaining('at most 4 parts')]);
  expect(await send(part.repeat(4))).toEqual([400, expect.stringContaining('the form cannot be read')]);
});

test('reports of a browser are few: a body of more than 256 KiB is refused', async () => {
  const { dsn } = await w.given.service();
  const { username, pathname } = new URL(dsn);
  const report = { 'csp-report': { 'blocked-uri': 'https://evil.test/a.js', 'violated-directive': 'script-src' } };
  const send = async (count: number) => {
    const payload = JSON.stringify(Array.from({ length: count }, () => report));
    return (await w.app.inject({ method: 'POST', url: `/api${pathname}/security/?sentry_key=${username}`, payload }))
      .statusCode;
  };
  expect([await send(10), await send(4_000)]).toEqual([200, 413]);
});

test.each([
  ['many bytes', 'unreadKilobytes', { unreadBytesMax: 100_000 }],
  ['a while', 'bodyBytesPerSecondMin', { bodyGraceMs: 100 }],
] as const)(
  'a body that goes on arriving after its request was refused is cut off after %s',
  async (_, limit, bounds) => {
    hurry();
    const { port, reachedLimits } = await guarded((_request, response) => response.end('refused'), bounds);
    const given = async (bytes: number) => {
      const socket = await opened(port);
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n');
      await socket.hears(/refused/);
      socket.write(Buffer.alloc(bytes));
      return socket;
    };
    const [little, much] = [await given(10_000), await given(1_000_000)];
    const isOfBytes = limit === 'unreadKilobytes';
    await Promise.all(isOfBytes ? [much.gone] : [much.gone, little.gone]);
    expect([much.isGone, little.isGone]).toEqual([true, !isOfBytes]);
    expect(reachedLimits.counts.get(limit)).toBe(isOfBytes ? 1 : 2);
  },
);

test('a port limits how many connections without a valid key it has, for how long and for how many bytes', async () => {
  const reachedLimits = new ReachedLimits(silentLog, testClock());
  const limits = { ...portLimitsOf(DEFAULT_LIMITS), connectionsMax: 3, unauthenticatedBytesMax: 1_000 };
  const connections = limitPortConnections(limits, { reachedLimits, trustedProxies: undefined, processes: () => 1 });
  const { all: admitted, happen: admit, reach: admittedAre } = happenings<boolean>();
  const server = createServer((socket) => {
    admit(connections.admit(socket));
    socket
      .on('error', () => {})
      .on('data', (bytes) => {
        if (String(bytes).includes('good key')) connections.setKnown(socket);
      });
  });
  onTestFinished(() => {
    connections.close();
    server.close();
  });
  const to = await portOf(server);
  const connection = await opened(to);
  connection.write('a good key');
  const [idle, loud] = [await opened(to), await opened(to)];
  await admittedAre(3);
  const late = await opened(to);
  // The connection without a key that was idle longest makes room.
  await idle.gone;
  connection.write(Buffer.alloc(5_000));
  loud.write(Buffer.alloc(5_000));
  await loud.gone;
  expect([connection.isGone, late.isGone, admitted]).toEqual([false, false, [true, true, true, true]]);
  expect(reachedLimits.counts.get('portKilobytesWithoutKey')).toBe(1);
});

test('of connections of a port that have shown a key, the one that was used longest ago makes room', async () => {
  const reachedLimits = new ReachedLimits(silentLog, testClock());
  const limits = { ...portLimitsOf(DEFAULT_LIMITS), connectionsMax: 3 };
  const connections = limitPortConnections(limits, { reachedLimits, trustedProxies: undefined, processes: () => 1 });
  const server = createServer((socket) => {
    connections.admit(socket);
    socket
      .on('error', () => {})
      .on('data', (key) => {
        connections.setKnown(socket);
        socket.write(key);
      });
  });
  onTestFinished(() => {
    connections.close();
    server.close();
  });
  const to = await portOf(server);
  const known = [await opened(to), await opened(to), await opened(to)];
  for (const index of [0, 1, 2, 0]) {
    known[index]!.heard = '';
    known[index]!.write('key');
    await known[index]!.hears(/^key$/);
  }
  const late = await opened(to, '127.0.0.2');
  await known[1]!.gone;
  expect(known.map(({ isGone }) => isGone)).toEqual([false, true, false]);
  expect(late.isGone).toBe(false);
});

describe('a body that comes in pieces', () => {
  const asked = (path: string, headers: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n${headers}\r\n`;
  const chunksOf = (size: number, count: number): string =>
    `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`.repeat(count);

  test('is refused when they are a byte each, with a key or without, before it is answered or after', async () => {
    const { ingestionKey } = await w.given.service();
    const withKey = `authorization: Bearer ${ingestionKey}\r\n${JSON_TYPE}\r\n`;
    const small = await opened(port);
    small.write(asked('/api/ingest/metrics', withKey) + chunksOf(1, 200_000));
    await small.gone;
    expect(small.heard).toMatch(/^HTTP\/1\.1 400 /);
    expect(small.heard).toContain('send it in larger chunks (limit: LIMIT_BODY_PIECE_BYTES)');
    const signIn = await opened(port);
    signIn.write(
      asked('/api/console/session', `${JSON_TYPE}\r\norigin: http://tocsin.test\r\n`) + chunksOf(1, 200_000),
    );
    await signIn.gone;
    const refused = await opened(port);
    refused.write(asked('/api/ingest/metrics', ''));
    await refused.hears(/^HTTP\/1\.1 401 /);
    refused.write(chunksOf(1, 100_000));
    await refused.gone;
    expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_BODY_PIECE_BYTES"} 3');
  });

  test('is put together again, whatever sizes they have', async () => {
    const bytes = Buffer.from(JSON.stringify({ text: 'é'.repeat(50_000) }));
    const sizes = [1, 20, 3_000, 16, 1, 700, 20_000, 17];
    const { all: heard, happen: hear, reach: heardAre } = happenings<Buffer>();
    const refused: unknown[] = [];
    const IncomingMessage = requestsInPieces(16, (socket) => refused.push(socket));
    const server = createHttpServer({ IncomingMessage }, (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        hear(Buffer.concat(pieces));
        response.end();
      });
    });
    onTestFinished(() => void server.close());
    const socket = await opened(await portOf(server));
    for (let time = 0; time < 2; time += 1) {
      socket.write(asked('/', ''));
      for (let at = 0, index = 0; at < bytes.length; index += 1) {
        const piece = bytes.subarray(at, (at += sizes[index % sizes.length]!));
        socket.write(Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]));
      }
      socket.write('0\r\n\r\n');
    }
    await heardAre(2);
    expect(heard.every((body) => body.equals(bytes))).toBe(true);
    expect(refused).toEqual([]);
  });
});
