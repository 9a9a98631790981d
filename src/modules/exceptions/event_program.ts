/** Program of the thread of `EventThread`: reads events and finds their groups. */
import { type ExceptionEvent, parseEvent, serializeEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent, splittableMessage } from '#modules/exceptions/decide/grouping.ts';
import { filterOf, NO_SETTINGS } from '#modules/exceptions/decide/inbound_filters.ts';
import { withoutFields } from '#modules/exceptions/decide/secret_fields.ts';
import type { EventAnswer, EventQuestion, ReadByThread, ThreadGrouping } from '#modules/exceptions/event_thread.ts';
import { READING } from '#modules/exceptions/read_events.ts';
import { listEvents, type UnreadEvent } from '#ingest/packing/pack_events.ts';
import { answerInThread, lowerThreadPriority, THREAD_NICENESS } from '#kernel/threads/own_thread.ts';
import { messageOf } from '#kernel/errors.ts';
import { freeBytes } from '#kernel/free_bytes.ts';
import { runWithTimeLimit } from '#kernel/threads/run_with_time_limit.ts';

type Settings = (EventQuestion & { readonly kind: 'read' })['settings'];

function answer(question: EventQuestion): EventAnswer {
  try {
    if (question.kind === 'group') {
      const event = parseEvent(question.text);
      return { kind: 'grouped', grouped: runWithTimeLimit(READING.eventMs, () => group(event)) };
    }
    const { bytes } = question;
    const unread = listEvents(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const events = unread.map((event) => runWithTimeLimit(READING.eventMs, () => read(event, question.settings)));
    freeBytes(bytes);
    return { kind: 'read', events };
  } catch (error) {
    return { kind: 'fault', message: messageOf(error) };
  }
}

function read(unread: UnreadEvent, settings: Settings): ReadByThread {
  const { serviceId } = unread;
  const arrived = unread.read();
  if (typeof arrived === 'string') return { kind: arrived, serviceId };
  const serviceSettings = settings.get(serviceId) ?? NO_SETTINGS;
  const filter = filterOf(arrived.event, serviceSettings);
  if (filter !== null) return { kind: 'filtered', serviceId, reason: `filter:${filter}` };
  const event = withoutFields(arrived.event, serviceSettings.secretNames);
  const { orgId, traceparent } = arrived;
  return { kind: 'event', orgId, serviceId, traceparent, text: serializeEvent(event), ...group(event) };
}

function group(event: ExceptionEvent): ThreadGrouping {
  const grouping = groupEvent(event);
  return { grouping, said: splittableMessage(event, grouping) };
}

lowerThreadPriority(THREAD_NICENESS);
answerInThread(answer);
