import { expect, test } from 'vitest';

import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { beyondBound } from '#test/kit/counting/count_work.ts';
import { sweep } from '#test/kit/properties.ts';

const context = {
  eventId: 'a'.repeat(32),
  receivedAt: fromEpochMilliseconds(1_790_000_000_000),
  clientIp: null,
  client: null,
};

test.each(sweep([0, 1, 2, 3], 4))(
  'reading an event takes a bounded number of steps a byte, whatever it is made of: part %i of 4',
  async (from) => {
    const workloads = import.meta.resolve('./hostile_events_workloads.ts');
    expect(await beyondBound(workloads, { size: 8 * 1024, free: 3_500_000, each: 100, part: { from, of: 4 } })).toEqual(
      [],
    );
  },
);

test('an event with more values than any real one keeps as many as possible', () => {
  const many = Array.from({ length: 200_000 }, (_, i) => `"k${i}":${i}`).join(',');
  const frames = Array.from({ length: 400 }, (_, i) => ({ function: `f${i}`, lineno: i + 1, filename: 'app.py' }));
  const crumbs = Array.from({ length: 5_000 }, (_, i) => ({ message: `crumb ${i} \u00e9` }));
  const text = `{"nobody":{${many}},"extra":{"deep":${'['.repeat(9_000)}${']'.repeat(9_000)},${many}},
    "message":"caf\\u00e9 \\"quoted\\"", "level":"fatal","tags":{"a":"b","c":7,"d":true},"release":null,
    "exception":{"values":[{"type":"KeyError","value":"x","stacktrace":{"frames":${JSON.stringify(frames)}}}]},
    "breadcrumbs":${JSON.stringify(crumbs)},"user":{"id":17,"ip_address":NaN}}`;
  const event = readEvent({ context, payload: Buffer.from(text) });
  if (typeof event === 'string') throw new Error(event);
  expect(event).toMatchObject({
    message: 'caf\u00e9 "quoted"',
    level: 'fatal',
    tags: { a: 'b', c: '7', d: 'true' },
    release: null,
    user: { id: '17', ip: null },
    exceptions: [{ type: 'KeyError', value: 'x' }],
  });
  expect(event.exceptions[0]!.frames).toHaveLength(120);
  expect(event.exceptions[0]!.frames.at(-1)).toMatchObject({ function: 'f399', lineno: 400 });
  expect(event.breadcrumbs).toHaveLength(300);
  expect(event.breadcrumbs.at(-1)!.message).toBe('crumb 4999 \u00e9');
  expect(event.extra).toMatchObject({ k0: 0, k50: 50 });
});

test('a broken part of a large event costs that part and no more', () => {
  const many = Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(',');
  for (const end of [
    '',
    '}',
    '}}}',
    '"',
    ',"message":"cut o',
    ',"message":"cut \\',
    ',"message',
    ',"message":',
    '}x',
  ]) {
    const event = readEvent({ context, payload: Buffer.from(`{"release":"1.2","extra":{${many}}${end}`) });
    expect(event, end).toMatchObject({ release: '1.2' });
  }
});
