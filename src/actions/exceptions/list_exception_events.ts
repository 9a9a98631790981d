import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { toWholeEventView, WholeEventView } from '#actions/exceptions/recent_event.ts';
import { scopeOf } from '#actions/exceptions/view.ts';
import { CLOSED, IdText, nullable } from '#actions/fields.ts';
import { invalidInput } from '#kernel/errors.ts';
import { Temporal } from '#kernel/time.ts';
import type { EventPlace } from '#storage/clickhouse/exception_event_pages.ts';

const LIMIT_MAX = 20;
const DAY_MS = 86_400_000;

const Cursor = Type.String({ maxLength: 60 });

/** The events of one group, one by one, however many there are. */
export const listExceptionEvents = defineAction({
  name: 'list_exception_events',
  consoleOnly: true,
  summary: 'List events of an exception group, newest first, from a place on, with the places of the next ones.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object(
    {
      groupId: IdText,
      day: Type.Optional(Type.String({ format: 'date', description: 'only events of this UTC day' })),
      cursor: Type.Optional(Type.String({ maxLength: 60, description: 'the first of them; the newest when left out' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, description: '1 when left out' })),
    },
    CLOSED,
  ),
  result: Type.Object({
    events: Type.Array(Type.Object({ ...WholeEventView.properties, cursor: Cursor })),
    newerCursor: nullable(Cursor),
    olderCursor: nullable(Cursor),
  }),
  example: {
    groupId: EXAMPLE_IDS.groupId,
    day: '2027-02-03',
    cursor: '1801621865922.4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f',
    limit: 1,
  },
  async handle({ groupId, day, cursor, limit = 1 }, { caller, stores, exceptions, sourceMaps, now }) {
    const from = cursor === undefined ? null : parseCursor(cursor);
    const within = day === undefined ? null : dayOf(day);
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const { scmOwner: owner, scmRepo: name } = await stores.services.get(caller.orgId, group.serviceId);
    const repository = owner !== null && name !== null ? { owner, name } : null;
    const page = await exceptions.pages.list(scopeOf(group, now), { from, within, limit });
    const { orgId, serviceId } = group;
    // Those that came before their source map.
    const mapped = await sourceMaps.mapEvents(
      page.events.map((entry) => ({ ...entry, orgId, serviceId })),
      'reader',
    );
    return {
      events: mapped.map(({ place, event }) => ({
        ...toWholeEventView(event, repository),
        cursor: cursorOf(place),
      })),
      newerCursor: page.newer === null ? null : cursorOf(page.newer),
      olderCursor: page.older === null ? null : cursorOf(page.older),
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

function cursorOf({ atMs, eventId }: EventPlace): string {
  return `${atMs}.${eventId}`;
}

function parseCursor(cursor: string): EventPlace {
  const [, atMs, eventId] = /^(\d{1,13})\.([\da-f]{32})$/.exec(cursor) ?? [];
  if (atMs === undefined || eventId === undefined) {
    throw invalidInput([{ path: 'cursor', message: 'must be a cursor of an event' }]);
  }
  return { atMs: Number(atMs), eventId };
}
