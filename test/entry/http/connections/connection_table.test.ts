import { createServer, type Socket } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { ConnectionTable } from '#entry/http/connections/connection_table.ts';
import { ReachedLimits } from '#kernel/reached_limits.ts';
import { silentLog } from '#kernel/log.ts';
import { opened, portOf } from '#test/contract/connection.ts';
import { testClock } from '#test/kit/clock.ts';
import { happenings } from '#test/kit/when.ts';

test('of many connections that come in one moment each takes a place of its own', async () => {
  const { all: accepted, happen: accept, reach: acceptedAre } = happenings<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    accept(socket);
  });
  onTestFinished(() => void server.close());
  const port = await portOf(server);
  for (let index = 0; index < 8; index += 1) await opened(port);
  await acceptedAre(8);
  const table = new ConnectionTable(
    { connectionsMax: 3, connectionsOfAddressMax: 100 },
    { reachedLimits: new ReachedLimits(silentLog, testClock()), trustedProxies: undefined, processes: () => 1 },
  );
  // In one turn: none of those that are closed has told so before the next comes.
  for (const socket of accepted) table.admit(socket);
  expect(accepted.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true, true, false, false, false]);
});
