import { type TArray, type TInteger, type TOptional, type TString, Type } from 'typebox';

import { SEARCH_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { IdText } from '#actions/fields.ts';
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

/** Cursor of a list sorted by name: the position after the last row of a page. */
interface NamePlace {
  readonly name: string;
  readonly id: string;
}

export function nameCursorOf({ name, id }: NamePlace): string {
  return Buffer.from(`${id} ${name}`).toString('base64url');
}

/** Throws `invalid_input` for a text that is no cursor of a list of this kind. */
export function parseNameCursor(kind: Kind, cursor: string): NamePlace {
  const [, id, name] = /^([a-z]+_\w{26}) (.*)$/s.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (id === undefined || name === undefined || !id.startsWith(`${kind}_`) || name.includes('\0')) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { name, id };
}

/** Returns the paging parameters of a list: the cursor and the number of rows. */
export function pageInput(
  usual: number,
  most: number,
): { readonly cursor: TOptional<TString>; readonly limit: TOptional<TInteger> } {
  return {
    cursor: Type.Optional(Type.String({ maxLength: 4_000, description: 'the nextCursor of the page before' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `${usual} when left out` })),
  };
}

/** Returns the parameter that limits a list to rows with a text in them. */
export function searchInput(description: string): TOptional<TString> {
  return Type.Optional(Type.String({ maxLength: SEARCH_LENGTH_MAX, description }));
}

export function idsInput(most: number): TOptional<TArray<typeof IdText>> {
  return Type.Optional(
    Type.Array(IdText, { maxItems: most, description: 'no others; one that is not there is left out' }),
  );
}

/** Returns the first `limit` rows, and the cursor of the next page; one more was read, to know whether there is one. */
export function pageOf<Row>(
  read: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { readonly shown: Row[]; readonly nextCursor: string | null } {
  const shown = read.slice(0, limit);
  const last = read.length > limit ? shown.at(-1) : undefined;
  return { shown, nextCursor: last === undefined ? null : cursorOf(last) };
}
