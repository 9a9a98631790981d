import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

import { expect, inject, onTestFinished, test } from 'vitest';

import { openDatabase } from '#storage/postgres/database.ts';

/** The way to PostgreSQL, of which a connection can be cut so that nothing passes and neither side hears of it. */
async function wayTo(socketPath: string) {
  const open: { readonly inner: Socket; readonly outer: Socket }[] = [];
  const server = createServer((inner) => {
    const outer = connect(socketPath);
    inner.pipe(outer).pipe(inner);
    for (const socket of [inner, outer]) socket.on('error', () => {});
    open.push({ inner, outer });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const { inner, outer } of open) for (const socket of [inner, outer]) socket.destroy();
    server.close();
  });
  const cut = (): void => {
    for (const { inner, outer } of open) {
      inner.unpipe();
      outer.unpipe();
    }
  };
  return { port: (server.address() as AddressInfo).port, cut, connections: () => open.length };
}

test('a connection that goes silent while it is in use is given up, and work goes on over a new one', async () => {
  const direct = new URL(inject('postgresUrl'));
  const way = await wayTo(`${decodeURIComponent(direct.hostname)}/.s.PGSQL.${direct.port}`);
  const url = `postgres://${direct.username}@127.0.0.1:${way.port}${direct.pathname}`;
  const db = await openDatabase({ url, poolMax: 1, silenceMsMax: 300 });
  onTestFinished(() => db.close());
  expect(await db.sql.row('select 1 as one')).toEqual({ one: 1 });
  way.cut();
  await expect(db.sql.row('select 2 as two')).rejects.toMatchObject({ code: 'unavailable' });
  expect(await db.sql.row('select 3 as three')).toEqual({ three: 3 });
  await expect(
    db.transaction(async ({ sql }) => {
      await sql.row('select 4 as four');
      way.cut();
      await sql.row('select 5 as five');
    }),
  ).rejects.toMatchObject({ code: 'unavailable' });
  expect(await db.sql.row('select 6 as six')).toEqual({ six: 6 });
  expect(way.connections()).toBe(3);
});
