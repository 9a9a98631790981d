import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { world } from '#test/kit/world.ts';
import { opened } from '#test/contract/connection.ts';
import { happenings } from '#test/kit/when.ts';

test('a server that stops waits for the request under way, and for no connection', async () => {
  const w = await world({ fresh: true });
  await w.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = w.app.server.address() as AddressInfo;
  const taken = happenings();
  w.app.server.on('connection', () => taken.happen());
  const [unused, idle, busy] = [await opened(port), await opened(port), await opened(port)];
  await taken.reach(3);
  idle.write('GET /readyz HTTP/1.1\r\nHost: tocsin.test\r\n\r\n');
  await idle.hears(/"ready":true/);
  const head = [
    'POST /api/rest/actions/list_services HTTP/1.1',
    'Host: tocsin.test',
    `Authorization: Bearer ${w.orgKey}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    'Expect: 100-continue',
  ];
  // The server asks for the body once the request has begun.
  busy.write(`${head.join('\r\n')}\r\n\r\n`);
  await busy.hears(/100 Continue/);

  const stopped = w.app.close();
  await Promise.all([unused.gone, idle.gone]);
  busy.write('{}');
  await Promise.all([busy.gone, stopped]);
  expect(busy.heard).toMatch(/HTTP\/1\.1 200 OK[^]*connection: close[^]*"services":\[\]/i);
});
