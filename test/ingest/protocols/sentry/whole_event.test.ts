import { expect, test } from 'vitest';

import { type ExceptionEvent, parseEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import { Temporal } from '#kernel/time.ts';
import { requestOf } from '#test/ingest/golden/sentry_recordings.ts';

const context = {
  eventId: 'a'.repeat(32),
  receivedAt: Temporal.Instant.from('2026-11-21T12:00:00Z'),
  clientIp: null,
  client: null,
};

function read(payload: Readonly<Record<string, unknown>>): ExceptionEvent {
  const event = readEvent({ context, payload: Buffer.from(JSON.stringify(payload)) });
  if (typeof event === 'string') throw new Error(event);
  expect(parseEvent(serializeEvent(event)), 'what is stored is what was read').toEqual(event);
  return event;
}

const raised = (frames: readonly object[]) => ({ exception: { values: [{ type: 'E', stacktrace: { frames } }] } });

test('local variables are kept without secrets, those of the raising call first', () => {
  const vars = { order: { id: 7, items: ['a', 'b'] }, password: "'hunter2'", url: "'https://x.test/?token=abc'" };
  const event = read(
    raised([{ function: 'outer', vars: { n: '1' } }, { function: 'pay', vars }, { function: 'none' }]),
  );
  expect(event.exceptions[0]!.frames.map(({ variables }) => variables)).toEqual([
    { n: '1' },
    { order: { id: 7, items: ['a', 'b'] }, password: '[filtered]', url: "'https://x.test/?token=[filtered]'" },
    undefined,
  ]);
});

test('of more variables than an event may have, the outer frames lose theirs', () => {
  const vars = Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`v${i}`, 'x'.repeat(900)]));
  const { frames } = read(raised(Array.from({ length: 40 }, () => ({ function: 'f', vars })))).exceptions[0]!;
  expect(JSON.stringify(frames.at(-1)!.variables).length).toBeGreaterThan(60_000);
  expect(frames[0]!.variables).toBeUndefined();
  expect(JSON.stringify(frames).length).toBeLessThan(100_000);
});

test('source context is kept as it was sent', () => {
  const lines = (name: string) => Array.from({ length: 12 }, (_, i) => `${name} ${i}`);
  const frame = { function: 'f', context_line: 'here', pre_context: lines('before'), post_context: lines('after') };
  expect(read(raised([frame])).exceptions[0]!.frames[0]).toMatchObject({
    preContext: lines('before'),
    contextLine: 'here',
    postContext: lines('after'),
  });
});

test('modules, dist, the whole user, the mechanism and the other threads are kept', () => {
  const stacktrace = { frames: [{ function: 'run', context_line: 'no code' }] };
  const event = read({
    dist: '42',
    modules: { express: '5.2.1', pg: '8.23.1' },
    user: { id: 7, name: 'Ann', geo: { country_code: 'NL' }, plan: 'pro', password: 'x' },
    exception: {
      values: [{ type: 'E', mechanism: { type: 'signalhandler', handled: false, meta: { signal: { number: 11 } } } }],
    },
    threads: [
      { id: 1, name: 'main', crashed: true, stacktrace },
      { id: 2, name: 'pool-1', state: 'RUNNABLE', stacktrace },
    ],
  });
  expect(event).toMatchObject({
    dist: '42',
    modules: { express: '5.2.1', pg: '8.23.1' },
    user: { id: '7', username: 'Ann', data: { geo: { country_code: 'NL' }, plan: 'pro', password: '[filtered]' } },
    exceptions: [{ mechanism: { type: 'signalhandler', data: { meta: { signal: { number: 11 } } } } }],
    thread: { name: 'main' },
    otherThreads: [{ id: '2', name: 'pool-1', state: 'RUNNABLE', frames: [{ function: 'run', contextLine: null }] }],
  });
});

test('breadcrumbs are all kept, also where a client keeps more than the usual hundred', () => {
  const breadcrumbs = Array.from({ length: 400 }, (_, i) => ({ message: `crumb ${i}`, data: { at: i } }));
  const event = read({ breadcrumbs });
  expect(event.breadcrumbs).toHaveLength(400);
  expect(event.breadcrumbs[0]).toMatchObject({ message: 'crumb 0', data: { at: 0 } });
});

test('an event says what it lost because it was too large', async () => {
  const body = JSON.stringify(raised([{ function: 'f', vars: { v: 'v'.repeat(2_000_000) }, pre_context: ['kept'] }]));
  const { events } = await decodeSentryRequest(requestOf('store', body), async (bytes) => bytes);
  expect(readEvent(events[0]!)).toMatchObject({
    trimmed: ['variables'],
    exceptions: [{ frames: [{ preContext: ['kept'] }] }],
  });
  const small = await decodeSentryRequest(requestOf('store', '{"message":"m"}'), async (bytes) => bytes);
  expect(small.events[0]!.context).not.toHaveProperty('trimmed');
});
