import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { pageInput } from '#actions/list_page.ts';
import {
  EVENT_CURSOR_EXAMPLE,
  EventCursor,
  parseEventCursor,
  toEventCursor,
} from '#modules/exceptions/operations/event_cursor.ts';
import { readUserKey } from '#modules/exceptions/operations/search/list_exception_users.ts';
import { scopeOf } from '#modules/exceptions/operations/view.ts';
import { fromEpochMilliseconds, toTimestamp } from '#kernel/time.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

const Text = nullable(Type.String());

export const browseExceptionEvents = defineAction({
  name: 'browse_exception_events',
  consoleOnly: true,
  summary: 'List the kept events of an exception group, newest first, with what tells them apart in a list.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ groupId: IdText, ...pageInput(LIMIT, LIMIT_MAX) }, STRICT),
  result: Type.Object({
    events: Type.Array(
      Type.Object({
        cursor: EventCursor,
        eventId: Type.String(),
        at: Timestamp,
        severity: Type.String(),
        environment: Text,
        release: Text,
        user: Text,
      }),
    ),
    nextCursor: nullable(EventCursor),
  }),
  example: { groupId: EXAMPLE_IDS.groupId, cursor: EVENT_CURSOR_EXAMPLE, limit: 20 },
  async handle({ groupId, cursor, limit = LIMIT }, { caller, stores, exceptions, now }) {
    const from = cursor === undefined ? null : parseEventCursor(cursor, 'cursor');
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const read = await exceptions.lists.listEvents(scopeOf(group, now), from, limit + 1);
    const next = read[limit];
    return {
      events: read.slice(0, limit).map(({ place, environment, release, userKey, level }) => ({
        cursor: toEventCursor(place),
        eventId: place.eventId,
        at: toTimestamp(fromEpochMilliseconds(place.atMs)),
        severity: level,
        environment: environment || null,
        release: release || null,
        user: userKey === '' ? null : readUserKey(userKey).user,
      })),
      nextCursor: next === undefined ? null : toEventCursor(next.place),
    };
  },
});
