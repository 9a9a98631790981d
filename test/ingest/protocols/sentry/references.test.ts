import { describe, expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { culpritOf } from '#modules/exceptions/decide/frames.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { Temporal } from '#kernel/time.ts';

const receivedAt = Temporal.Instant.from('2026-11-21T12:00:00Z');

function normalise(payload: Readonly<Record<string, unknown>>): ExceptionEvent {
  const context = { eventId: 'a'.repeat(32), receivedAt, clientIp: null, client: 'sentry.test/1.0' };
  const event = readEvent({ context, payload: Buffer.from(JSON.stringify(payload)) });
  if (typeof event === 'string') throw new Error(event);
  return event;
}

const frame = { function: 'checkout', filename: 'views.py', lineno: 7 };

describe('references between exceptions', () => {
  const linked = (type: string, id: number, parent?: number) => ({
    type,
    mechanism: { type: 'chained', exception_id: id, ...(parent !== undefined && { parent_id: parent }) },
  });
  const typesOf = (...values: readonly object[]) =>
    normalise({ exception: { values } }).exceptions.map(({ type }) => type);

  test('bring each cause before what it caused, whatever the order in which they were sent', () => {
    const [save, io, disk] = [linked('SaveFailed', 0), linked('IOError', 1, 0), linked('DiskFull', 2, 1)];
    for (const sent of [
      [disk, io, save],
      [save, io, disk],
      [io, save, disk],
    ]) {
      expect(typesOf(...sent)).toEqual(['DiskFull', 'IOError', 'SaveFailed']);
    }
  });

  test.each([
    ['in order already', [linked('B', 2, 0), linked('A', 1, 0), linked('Group', 0)]],
    ['some of which have no id', [linked('Group', 0), { type: 'X' }, linked('A', 1, 0)]],
    ['that hold each other', [linked('A', 0, 1), linked('B', 1, 0)]],
  ])('leave exceptions as they were sent: %s', (_how, values) => {
    expect(typesOf(...values)).toEqual(values.map(({ type }) => type));
  });

  test('show the thread that raised the exception, although none is flagged', () => {
    const thread = (id: number, name: string) => ({ id, stacktrace: { frames: [{ ...frame, function: name }] } });
    const event = normalise({
      exception: { type: 'ANR', thread_id: 1039 },
      threads: { values: [thread(1040, 'wait'), thread(1039, 'query'), { id: 1, crashed: true }] },
    });
    expect(event.thread).toMatchObject({ id: '1039', frames: [{ function: 'query' }] });
    expect(event.exceptions).toMatchObject([{ type: 'ANR', threadId: '1039' }]);
    expect(culpritOf(event)?.label).toBe('query (views.py)');
  });
});
