import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';
import { toWholeEventView, WholeEventView } from '#modules/exceptions/operations/recent_event.ts';
import { scopeOf } from '#modules/exceptions/operations/view.ts';
import type { EventPlace } from '#modules/exceptions/store/exception_event_pages.ts';

/** Cursor of a list of events: the time and id of an event. */
export const EventCursor = Type.String({ maxLength: 60 });

export const EVENT_CURSOR_EXAMPLE = '1801621865922.4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f';

export function toEventCursor({ atMs, eventId }: EventPlace): string {
  return `${atMs}.${eventId}`;
}

/** Throws `invalid_input` at the path. */
export function parseEventCursor(cursor: string, path: string): EventPlace {
  const [, atMs, eventId] = /^(\d{1,13})\.([\da-f]{32})$/.exec(cursor) ?? [];
  if (atMs === undefined || eventId === undefined) {
    throw invalidInput([{ path, message: 'must be a cursor of an event' }]);
  }
  return { atMs: Number(atMs), eventId };
}

const LIMIT_MAX = 20;
const DAY_MS = 86_400_000;

/** Lists the events of one group, one by one, however many there are. */
export const listExceptionEvents = defineOperation({
  name: 'list_exception_events',
  summary: 'List events of an exception group, newest first, from a place on, with the places of the next ones.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({
    groupId: IdText,
    day: Type.Optional(Type.String({ format: 'date', description: 'only events of this UTC day' })),
    cursor: Type.Optional(Type.String({ ...EventCursor, description: 'the first of them; the newest when left out' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: '1 when left out' })),
  }),
  result: Type.Object({
    events: Type.Array(Type.Object({ ...WholeEventView.properties, cursor: EventCursor })),
    newerCursor: nullable(EventCursor),
    olderCursor: nullable(EventCursor),
  }),
  example: { day: '2027-02-03', cursor: EVENT_CURSOR_EXAMPLE, limit: 1 },
  async handle({ groupId, day, cursor, limit = 1 }, { caller, stores, exceptions, sourceMaps, now }) {
    const from = cursor === undefined ? null : parseEventCursor(cursor, 'cursor');
    const within = day === undefined ? null : dayOf(day);
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const { scmOwner: owner, scmRepo: name } = await stores.services.get(caller.orgId, group.serviceId);
    const repository = owner !== null && name !== null ? { owner, name } : null;
    const page = await exceptions.pages.list(scopeOf(group, now), { from, within, limit });
    const { orgId, serviceId } = group;
    // Maps events that came before their source map.
    const mapped = await sourceMaps.mapEvents(
      page.events.map((entry) => ({ ...entry, orgId, serviceId })),
      'reader',
    );
    return {
      events: mapped.map(({ place, event }) => ({
        ...toWholeEventView(event, repository),
        cursor: toEventCursor(place),
      })),
      newerCursor: page.newer === null ? null : toEventCursor(page.newer),
      olderCursor: page.older === null ? null : toEventCursor(page.older),
    };
  },
});

function dayOf(day: string): { fromMs: number; untilMs: number } {
  try {
    const fromMs = Temporal.PlainDate.from(day).toZonedDateTime('UTC').epochMilliseconds;
    return { fromMs, untilMs: fromMs + DAY_MS };
  } catch {
    throw invalidInput([{ path: 'day', message: 'is not a day of the calendar' }]);
  }
}
