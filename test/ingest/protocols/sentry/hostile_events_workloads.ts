import { serializeEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { onOccurrence, toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { hostileEvents } from '#test/ingest/protocols/sentry/hostile_events.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const context = {
  eventId: 'a'.repeat(32),
  receivedAt: fromEpochMilliseconds(1_790_000_000_000),
  clientIp: null,
  client: null,
};

/** Handles an event as the worker does, from its bytes to what is stored; the part of its group comes twice. */
function handle(payload: Buffer): string {
  const event = readEvent({ context, payload });
  if (typeof event === 'string') return event;
  const { key } = groupEvent(event);
  const seen = toOccurrence(event);
  const other = { ...seen, headline: { ...seen.headline, message: `other ${seen.headline.message} x` } };
  onOccurrence(onOccurrence(null, seen).state, other);
  return key + serializeEvent(event);
}

const made = new Map<number, ReturnType<typeof hostileEvents>>();

/** All of a size are made at once. */
function eventsOf(size: number): ReturnType<typeof hostileEvents> {
  const events = made.get(size) ?? hostileEvents(size);
  made.set(size, events);
  return events;
}

/** Workloads of a worker with events of about so many bytes. */
export default Object.fromEntries(
  Object.keys(eventsOf(1_000)).map((name) => [
    name,
    (size) => {
      const payload = Buffer.from(eventsOf(size)[name]!);
      return () => handle(payload);
    },
  ]),
) satisfies Workloads;
