import { once } from 'node:events';
import { duplexPair, type Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { FramePacer, type Paced } from '#ingest/protocols/body/frame_pacer.ts';
import { happenings } from '#test/kit/when.ts';

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HEAD_BYTES = 9;

function frame(length: number, flags = length % 256): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + length, length);
  bytes.writeUIntBE(length, 0, 3);
  bytes[4] = flags;
  return bytes;
}

/** A piece of a body, after which others follow. */
function piece(length: number): Buffer {
  const bytes = frame(length, 0);
  bytes[3] = 0;
  return bytes;
}

/** A connection that a pacer has, as its client and its server see it. */
function connection(pacer: FramePacer): { client: Duplex; socket: Duplex; server: Paced } {
  const [client, socket] = duplexPair();
  return { client, socket, server: pacer.pace(socket) };
}

test('everything comes as it was sent, whatever the frames are and however it is cut, and so does the answer', async () => {
  const lengthsOfFrames = fc.array(fc.oneof(fc.constant(0), fc.nat(40), fc.constant(70_000)), { maxLength: 100 });
  const sizesOfPieces = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(lengthsOfFrames, sizesOfPieces, async (lengths, cuts) => {
      const sent = Buffer.concat([PREFACE, ...lengths.map(frame)]);
      const { client, server } = connection(new FramePacer());
      const heard = buffer(server);
      const answer = buffer(client);
      for (let at = 0, cut = 0; at < sent.length; cut += 1) {
        const to = at + cuts[cut % cuts.length]!;
        client.write(sent.subarray(at, to));
        at = to;
      }
      client.end();
      expect((await heard).equals(sent)).toBe(true);
      server.end('an answer');
      expect(String(await answer)).toBe('an answer');
    }),
    { numRuns: 30 },
  );
});

test('of many connections that send many frames each has a few in a turn, and all together not many more', async () => {
  const pacer = new FramePacer();
  const frames = 500;
  const connections = Array.from({ length: 20 }, () => connection(pacer));
  const turns: Map<number, number>[] = [new Map()];
  const received = connections.map(() => 0);
  connections.forEach(({ client, server }, index) => {
    server.on('data', (bytes: Buffer) => {
      received[index]! += bytes.length;
      const turn = turns.at(-1)!;
      turn.set(index, (turn.get(index) ?? 0) + bytes.length);
    });
    client.write(Buffer.concat([PREFACE, ...Array.from({ length: frames }, () => frame(0))]));
  });
  const whole = PREFACE.length + frames * HEAD_BYTES;
  while (received.some((bytes) => bytes < whole)) {
    await new Promise((resolve) => setImmediate(resolve));
    turns.push(new Map());
  }
  const most = (counts: number[]): number => Math.max(...counts) / HEAD_BYTES;
  expect(most(turns.flatMap((turn) => [...turn.values()]))).toBeLessThanOrEqual(32 + PREFACE.length / HEAD_BYTES);
  expect(most(turns.map((turn) => turn.values().reduce((sum, bytes) => sum + bytes, 0)))).toBeLessThanOrEqual(
    128 + (4 * PREFACE.length) / HEAD_BYTES,
  );
});

test.each(['server', 'socket'] as const)(
  'a connection that its %s closes while frames wait is forgotten',
  async (by) => {
    const both = connection(new FramePacer());
    both.client.write(Buffer.concat([PREFACE, ...Array.from({ length: 500 }, () => frame(0))]));
    let received = 0;
    both.server.on('data', (bytes: Buffer) => {
      received += bytes.length;
      both[by].destroy();
    });
    await once(both.server, 'close');
    expect([both.server.destroyed, both.socket.destroyed]).toEqual([true, true]);
    expect(received).toBeLessThan(100 * HEAD_BYTES);
  },
);

test.each([
  ['of one byte', 1, true],
  ['of sixteen bytes', 16, false],
])('a body in many pieces %s is refused: %s', async (_what, length, isRefused) => {
  let refused = 0;
  const pacer = new FramePacer({ pieceBytesMin: 16 });
  const [client, socket] = duplexPair();
  const server = pacer.pace(socket, () => {
    refused += 1;
    socket.destroy();
  });
  let received = 0;
  server.on('data', (bytes: Buffer) => (received += bytes.length));
  const sent = Buffer.concat([PREFACE, ...Array.from({ length: 600 }, () => piece(length))]);
  client.on('error', () => {}).end(sent);
  if (isRefused) await once(server, 'close');
  else await once(server.resume(), 'end');
  expect(refused).toBe(isRefused ? 1 : 0);
  expect(received <= 257 * (HEAD_BYTES + length) + PREFACE.length).toBe(isRefused);
});

test('a connection that is held lets nothing through and reads nothing more, and goes on afterwards', async () => {
  const { client, socket, server } = connection(new FramePacer());
  let received = 0;
  const reads = happenings();
  server.on('data', (bytes: Buffer) => {
    received += bytes.length;
    reads.happen();
  });
  client.write(PREFACE);
  await reads.hold(() => received === PREFACE.length);
  server.hold(true);
  const pieces = Buffer.concat(Array.from({ length: 5 }, () => piece(10)));
  for (let times = 0; times < 3; times += 1) client.write(pieces);
  for (let turns = 0; turns < 10; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect([received, socket.isPaused()]).toEqual([PREFACE.length, true]);
  server.hold(false);
  await reads.hold(() => received === PREFACE.length + 3 * pieces.length);
});
