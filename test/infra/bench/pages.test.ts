import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { PhoneRequest } from '@tocsin/phone-simulator';
import { expect, onTestFinished, test } from 'vitest';

import { duplicatesAmong, PageWatch, takenAmong } from '#infra/bench/paging/pages.ts';

test('a page that two look for at the same time is counted once', async () => {
  const waiting: ServerResponse[] = [];
  const form = { StatusCallback: 'http://localhost/notification_1' };
  const requests = [{ seq: 1, method: 'POST', status: 201, receivedAtMs: 1_000, form }];
  const server = createServer((_, response) => {
    if (waiting.push(response) === 2) for (const held of waiting) held.end(JSON.stringify({ requests }));
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const watch = new PageWatch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [taken] = await Promise.all([watch.look(), watch.look()]);
  expect([...taken]).toEqual([['notification_1', [{ receivedAtMs: 1_000, isAnswered: true }]]]);
});

test('what a sender that was killed sends again is no duplicate, what one sends that knew is', () => {
  const taken = takenAmong([request(1, null), request(2, 201), request(3, 201), request(4, 429)]);
  expect(taken.get('notification_1')).toEqual([
    { receivedAtMs: 1, isAnswered: false },
    { receivedAtMs: 2, isAnswered: true },
    { receivedAtMs: 3, isAnswered: true },
  ]);
  expect(duplicatesAmong(taken.get('notification_1') ?? [])).toBe(1);
  expect(duplicatesAmong(takenAmong([request(1, null), request(2, 201)]).get('notification_1') ?? [])).toBe(0);
});

function request(receivedAtMs: number, status: number | null): PhoneRequest {
  const form = { StatusCallback: 'http://localhost/notification_1' };
  return { seq: receivedAtMs, receivedAtMs, method: 'POST', path: '/Messages.json', form, status };
}
