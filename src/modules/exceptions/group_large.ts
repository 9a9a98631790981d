import {
  type AcceptedEvent,
  type ArrivedEvent,
  listEvents,
  openEvents,
  type UnreadEvent,
} from '#ingest/packing/pack_events.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { retryWhileUnavailable } from '#kernel/promises.ts';
import { parseEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import { toOccurrence } from '#modules/exceptions/decide/occurrence.ts';
import type { SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import type {
  EventAnswer,
  EventQuestion,
  EventThread,
  ThreadEvent,
  ThreadGrouping,
} from '#modules/exceptions/event_thread.ts';
import { continueTraces, groupAndStore, storeSeen } from '#modules/exceptions/group_and_store.ts';
import { type GroupingRuntime, readingOf, recordRefused } from '#modules/exceptions/grouping_runtime.ts';
import { isEvent, listSlow, readEvent } from '#modules/exceptions/read_events.ts';
import { findServiceRules } from '#modules/exceptions/service_rules.ts';
import { storesOf } from '#modules/stores.ts';
import { deduplicationToken } from '#storage/clickhouse/insert_rows.ts';
import { isolateFaults } from '#storage/queue/isolation.ts';
import { OUTAGE_RETRY } from '#storage/queue/job_workers.ts';

/** Bytes of events that take up to a tenth of a second to read and group; more take longer. */
const LARGE_BYTES = 256 * 1024;
/** Size up to which an event is ordinary: however many a job has, others have their turn after each of them. */
const ORDINARY_BYTES = 64 * 1024;

/** Whether the events of a job belong to the thread of large ones. */
export function isLarge(events: readonly { readonly bytes: number }[]): boolean {
  const large = events.filter(({ bytes }) => bytes > ORDINARY_BYTES);
  return large.reduce((sum, { bytes }) => sum + bytes, 0) > LARGE_BYTES;
}

/**
 * Reads and groups the events of a large job in the thread, and stores them. Holds nothing of the job before, so that large
 * jobs that wait take little memory.
 */
export async function groupLarge(runtime: GroupingRuntime, thread: EventThread, packed: Buffer): Promise<void> {
  const opened = openEvents(packed, runtime.eventCipher);
  const unread = listEvents(opened);
  const [{ orgId } = {}] = unread;
  if (orgId === undefined) return;
  const ask = async (question: EventQuestion): Promise<Exclude<EventAnswer, { kind: 'fault' }>> => {
    const asked = await thread.ask(orgId, question);
    if (asked.kind === 'too_much') throw new Error('the events take more time or memory than they may');
    if (asked.answer.kind === 'fault') throw new Error(`the events cannot be grouped: ${asked.answer.message}`);
    return asked.answer;
  };
  const rules = await retryWhileUnavailable(() => findServiceRules(runtime.db, unread), OUTAGE_RETRY);
  const settings = new Map(
    [...rules].map(([id, { filters, patterns, secretNames }]) => [id, { filters, patterns, secretNames }] as const),
  );
  const answer = await ask({ kind: 'read', bytes: opened, settings });
  freeBytes(opened);
  if (answer.kind !== 'read') throw new Error('the thread answered another question');
  const read = Map.groupBy(answer.events, ({ kind }) => kind);
  await recordRefused(storesOf(runtime.db.session()), 'faulty', countEach(read.get('malformed')), runtime.clock.now());
  const filtered = answer.events.filter((event) => event.kind === 'filtered');
  const sentEvents = answer.events.filter((event) => event.kind === 'event');
  const events = sentEvents.map(toArrived);
  const map = await retryWhileUnavailable(() => runtime.sourceMaps.prepare(events, 'worker'), OUTAGE_RETRY);
  const mapped: ArrivedEvent[] = [];
  const seen: SeenEvent[] = [];
  for (const [index, sent] of sentEvents.entries()) {
    const before = events[index];
    if (before === undefined) continue;
    const after = map(before);
    const grouped = after === before ? null : await ask({ kind: 'group', text: serializeEvent(after.event) });
    if (grouped?.kind === 'read') throw new Error('the thread answered another question');
    mapped.push(after);
    seen.push(toSeen(after, grouped === null ? sent : grouped.grouped));
  }
  const token = deduplicationToken(packed);
  await continueTraces(mapped, async (handled) => {
    const all = { rules, filtered, events: handled, seen };
    await retryWhileUnavailable(() => storeSeen(runtime, all, token), OUTAGE_RETRY);
  });
}

function countEach(events: readonly { readonly serviceId: Id<'service'> }[] = []) {
  return events.map(({ serviceId }) => ({ serviceId, count: 1 }));
}

function toArrived({ orgId, serviceId, traceparent, text }: ThreadEvent): ArrivedEvent {
  return { orgId, serviceId, traceparent, event: parseEvent(text) };
}

function toSeen({ orgId, serviceId, event }: ArrivedEvent, { grouping, said }: ThreadGrouping): SeenEvent {
  return { orgId, serviceId, grouping, occurrence: toOccurrence(event), said: () => said };
}

/**
 * Groups and stores events separately, so that one that fails does not block the others. An event that the stores
 * permanently reject is dropped and logged. Returns those that took too long to read.
 */
export async function groupOneByOne(
  runtime: GroupingRuntime,
  unread: readonly UnreadEvent[],
  { token, attempt, log }: { readonly token: string; readonly attempt: number; readonly log: Log },
): Promise<readonly AcceptedEvent[]> {
  const slow = new Set(await listSlow(readingOf(runtime), unread));
  const others = unread.filter((event) => !slow.has(event));
  const work = async (part: readonly UnreadEvent[]): Promise<void> => {
    const events = part.map(readEvent).filter(isEvent);
    await groupAndStore(runtime, events, deduplicationToken(token, ...part.map(({ eventId }) => eventId)));
  };
  for (const { item, error } of await isolateFaults(others, attempt, work)) {
    const { serviceId, eventId } = item;
    log.error({ serviceId, eventId, err: error }, 'event dropped: the stores permanently reject it');
  }
  return [...slow].map(({ accepted }) => accepted());
}
