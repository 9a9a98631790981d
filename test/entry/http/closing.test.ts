import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { type World, world } from '#test/kit/world.ts';

interface Connection {
  readonly socket: Socket;
  readonly heard: () => string;
  /** Resolves once the server has closed it. */
  readonly closed: Promise<unknown>;
}

async function connectTo(w: World): Promise<Connection> {
  const { port } = w.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => (heard += text));
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  return { socket, heard: () => heard, closed };
}

/** Resolves once the server has taken this many connections. */
async function connectionsAre(w: World, count: number): Promise<void> {
  const taken = (): Promise<number> =>
    new Promise((resolve) => w.app.server.getConnections((_error, found) => resolve(found)));
  await expect.poll(taken).toBe(count);
}

test('a server that stops waits for the request under way, and for no connection', async () => {
  const w = await world({ fresh: true });
  await w.app.listen({ port: 0, host: '127.0.0.1' });
  const [unused, idle, busy] = [await connectTo(w), await connectTo(w), await connectTo(w)];
  await connectionsAre(w, 3);
  idle.socket.write('GET /readyz HTTP/1.1\r\nHost: tocsin.test\r\n\r\n');
  await expect.poll(idle.heard).toContain('"ready":true');
  const head = [
    'POST /api/rest/actions/list_services HTTP/1.1',
    'Host: tocsin.test',
    `Authorization: Bearer ${w.orgKey}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    'Expect: 100-continue',
  ];
  // The server asks for the body once the request has begun.
  busy.socket.write(`${head.join('\r\n')}\r\n\r\n`);
  await expect.poll(busy.heard).toContain('100 Continue');

  const stopped = w.app.close();
  await Promise.all([unused.closed, idle.closed]);
  busy.socket.write('{}');
  await Promise.all([busy.closed, stopped]);
  expect(busy.heard()).toMatch(/HTTP\/1\.1 200 OK[^]*connection: close[^]*"services":\[\]/i);
});
