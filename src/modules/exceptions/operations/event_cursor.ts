import { Type } from 'typebox';

import { invalidInput } from '#kernel/errors.ts';
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
