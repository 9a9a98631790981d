import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { LimitLog } from '#kernel/limit_log.ts';
import { AppError } from '#kernel/errors.ts';
import { silentLog } from '#kernel/log.ts';
import { testClock } from '#test/kit/clock.ts';
import { world } from '#test/kit/world.ts';

test('a batch beyond the limit that is set is refused by its name, and its sender counted by it', async () => {
  const w = await world({ settings: { mcpBatchMax: 2 } });
  const send = (messages: number) =>
    w.app.inject({
      method: 'POST',
      url: '/api/mcp',
      headers: {
        authorization: `Bearer ${w.orgKey}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
      },
      payload: JSON.stringify(Array.from({ length: messages }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' }))),
    });
  expect((await send(2)).statusCode).toBe(200);
  const refused = await send(3);
  expect(refused.statusCode).toBe(400);
  expect(refused.json().error).toMatchObject({
    message: 'a batch holds at most 2 messages; send the others after it (limit: LIMIT_MCP_BATCH)',
    data: { limit: 'LIMIT_MCP_BATCH' },
  });
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_MCP_BATCH"} 1');
});

test('a head that never ends is told which limit it has met', async () => {
  const w = await world({ settings: { headSeconds: 1 } });
  await w.app.listen({ port: 0, host: '127.0.0.1' });
  const socket = connect((w.app.server.address() as AddressInfo).port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.on('data', (text: string) => (heard += text)).write('GET / HTTP/1.1\r\nHost: x\r\n');
  await once(socket, 'close');
  expect(heard).toMatch(/^HTTP\/1\.1 408 /);
  expect(heard).toContain('"limit":"LIMIT_HEAD_SECONDS"');
  expect(await w.metrics()).toContain('tocsin_limits_met_total{limit="LIMIT_HEAD_SECONDS"} 1');
});

test('the log names once a minute who met a limit, and a refusal counts once wherever it passes', () => {
  const clock = testClock();
  const lines: object[] = [];
  const limits = new LimitLog({ ...silentLog, warn: (fields: object) => void lines.push(fields) }, clock);
  const refusal = new AppError('rate_limited', 'too much', { limit: 'callsPerMinute' });
  limits.refused(refusal, 'key_1');
  limits.refused(refusal, 'key_1');
  limits.refused(new AppError('rate_limited', 'for another reason'), 'key_1');
  expect(limits.counts.get('callsPerMinute')).toBe(1);
  limits.met('callsPerMinute', 'key_1');
  limits.met('callsPerMinute', 'key_2');
  clock.advance({ seconds: 61 });
  limits.met('callsPerMinute', 'key_2');
  expect(lines).toEqual([
    { limit: 'CALLS_PER_MINUTE', who: { key_1: 1 } },
    { limit: 'CALLS_PER_MINUTE', who: { key_1: 1, key_2: 2 } },
  ]);
});
