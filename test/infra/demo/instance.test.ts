import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { isRunning } from '#infra/demo/instance.ts';

test('one that runs and is not well yet is waited for, and no other takes its place', async () => {
  const statuses = [503, 200];
  const server = createServer((_request, response) => response.writeHead(statuses.shift() ?? 503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await isRunning(address)).toBe(true);
  await expect(isRunning(address, 0)).rejects.toThrow(`${address}/healthz says what does not`);
  await new Promise((resolve) => server.close(resolve));
  expect(await isRunning(address)).toBe(false);
});
