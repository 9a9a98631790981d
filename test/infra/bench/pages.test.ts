import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { PageWatch, takenAmong } from '#infra/bench/paging/pages.ts';

test('a page that two look for at the same time is counted once', async () => {
  const waiting: ServerResponse[] = [];
  const form = { StatusCallback: 'http://localhost/notification_1' };
  const requests = [{ seq: 1, method: 'POST', status: 201, receivedAtMs: 1_000, form }];
  const server = createServer((_, response) => {
    if (waiting.push(response) === 2) for (const one of waiting) one.end(JSON.stringify({ requests }));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const watch = new PageWatch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [taken] = await Promise.all([watch.look(), watch.look()]);
  expect([...taken]).toEqual([['notification_1', [{ receivedAtMs: 1_000, isAnswered: true }]]]);
});
