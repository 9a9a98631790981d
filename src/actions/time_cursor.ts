import { invalidInput } from '#kernel/errors.ts';
import { asId, type Id, type Kind } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal } from '#kernel/time.ts';

/** Cursor of a list sorted by time: the position after the last row of a page. */
interface TimePlace<K extends Kind> {
  readonly at: Temporal.Instant;
  readonly id: Id<K>;
}

export function timeCursorOf<K extends Kind>({ at, id }: TimePlace<K>): string {
  return `${at.epochMilliseconds}.${id}`;
}

/** Throws `invalid_input` for a text that is no cursor of a list of this kind. */
export function parseTimeCursor<K extends Kind>(kind: K, cursor: string): TimePlace<K> {
  const [, at, id] = /^(\d{1,13})\.([a-z]+_\w{26})$/.exec(cursor) ?? [];
  if (at === undefined || id === undefined || !id.startsWith(`${kind}_`)) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { at: fromEpochMilliseconds(Number(at)), id: asId(kind, id) };
}
