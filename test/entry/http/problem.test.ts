import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';

import Fastify from 'fastify';
import { expect, onTestFinished, test } from 'vitest';

import { sendProblem } from '#entry/http/problem.ts';
import { type Log, silentLog } from '#kernel/log.ts';

/** A route whose answer ends before its first byte; `logged` has what was logged as a fault, `handled` is when. */
async function givenBrokenAnswer(mayAnswerEnd: (left: Promise<unknown>) => Promise<unknown>) {
  const logged: string[] = [];
  const log: Log = { ...silentLog, error: (_fields, message) => void logged.push(message) };
  const handled = Promise.withResolvers<void>();
  const app = Fastify();
  onTestFinished(() => app.close());
  app.setErrorHandler((error, request, reply) => {
    handled.resolve();
    return sendProblem(error, request, reply, log);
  });
  app.post('/', (request, reply) => {
    const answer = new Readable({ read() {} });
    const end = (): unknown =>
      answer.destroy(Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }));
    void mayAnswerEnd(once(request.raw.socket, 'close')).then(end, end);
    return reply.send(answer);
  });
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port);
  return { logged, handled: handled.promise, port };
}

test('an answer that nobody waits for any more is no fault in the log', async () => {
  const asked = Promise.withResolvers<void>();
  const { logged, handled, port } = await givenBrokenAnswer(async (left) => {
    asked.resolve();
    await left;
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nhost: tocsin\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}');
  await asked.promise;
  socket.destroy();
  await handled;
  expect(logged).toEqual([]);
});

test('an answer that ends early while somebody waits for it is one', async () => {
  const { logged, port } = await givenBrokenAnswer(() => Promise.resolve());
  expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST' })).status).toBe(500);
  expect(logged).toEqual(['request failed']);
});
