import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf } from '#actions/list_page.ts';
import { invalidInput } from '#kernel/errors.ts';
import { fromEpochMilliseconds, toTimestamp } from '#kernel/time.ts';
import {
  EVENT_CURSOR_EXAMPLE,
  EventCursor,
  parseEventCursor,
  toEventCursor,
} from '#modules/exceptions/operations/list_exception_events.ts';
import { scopeOf } from '#modules/exceptions/operations/view.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

const Text = nullable(Type.String());

export const browseExceptionEvents = defineOperation({
  name: 'browse_exception_events',
  summary: 'List the kept events of an exception group, newest first, with what tells them apart in a list.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText, ...pageInput(LIMIT, LIMIT_MAX) }),
  result: Type.Object({
    events: Type.Array(
      Type.Object({
        cursor: EventCursor,
        eventId: Type.String(),
        at: Timestamp,
        severity: Type.String(),
        environment: Text,
        release: Text,
        user: nullable(Type.String({ description: 'mail address, name, id or network address: the first there is' })),
      }),
    ),
    nextCursor: nullable(EventCursor),
  }),
  example: { cursor: EVENT_CURSOR_EXAMPLE, limit: 20 },
  async handle({ groupId, cursor, limit = LIMIT }, { caller, stores, exceptions, now }) {
    const from = cursor === undefined ? null : parseEventCursor(cursor, 'cursor');
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const read = await exceptions.lists.listEvents(scopeOf(group, now), from, limit + 1);
    const next = read[limit];
    return {
      events: read
        .slice(0, limit)
        .map(({ place, environment, release, userKey, userName, level }) => ({
          cursor: toEventCursor(place),
          eventId: place.eventId,
          at: toTimestamp(fromEpochMilliseconds(place.atMs)),
          severity: level,
          environment: environment || null,
          release: release || null,
          user: userKey === '' ? null : (userName ?? readUserKey(userKey).user),
        })),
      nextCursor: next === undefined ? null : toEventCursor(next.place),
    };
  },
});

export const listExceptionUsers = defineOperation({
  name: 'list_exception_users',
  summary: 'List the users whom the kept events of an exception group concern, with their events, the last seen first.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText, ...pageInput(LIMIT, LIMIT_MAX) }),
  result: Type.Object({
    users: Type.Array(
      Type.Object({
        user: Type.String({ description: 'the id, mail address, name or network address that tells them apart' }),
        kind: Type.String({ description: 'id, email, username or ip: which of these it is' }),
        name: nullable(Type.String({ description: 'mail address or name that their last event has besides the id' })),
        events: Type.Integer(),
        firstSeenAt: Timestamp,
        lastSeenAt: Timestamp,
      }),
    ),
    nextCursor: nullable(Type.String()),
  }),
  example: { cursor: '1801620255000.id:42', limit: 20 },
  async handle({ groupId, cursor, limit = LIMIT }, { caller, stores, exceptions, now }) {
    const after = cursor === undefined ? null : parseCursor(cursor);
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const read = await exceptions.lists.listUsers(scopeOf(group, now), after, limit + 1);
    const { shown, nextCursor } = pageOf(read, limit, ({ lastAt, key }) => `${lastAt.epochMilliseconds}.${key}`);
    return {
      users: shown.map(({ key, name, events, firstAt, lastAt }) => ({
        ...readUserKey(key),
        name,
        events,
        firstSeenAt: toTimestamp(firstAt),
        lastSeenAt: toTimestamp(lastAt),
      })),
      nextCursor,
    };
  },
});

function parseCursor(cursor: string): { readonly atMs: number; readonly key: string } {
  const [, at, key] = /^(\d{1,13})\.(.+)$/s.exec(cursor) ?? [];
  if (at === undefined || key === undefined) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { atMs: Number(at), key };
}

/** Splits the key of a user, such as `id:42`. */
function readUserKey(key: string): { readonly kind: string; readonly user: string } {
  const colon = key.indexOf(':');
  return { kind: key.slice(0, colon), user: key.slice(colon + 1) };
}
