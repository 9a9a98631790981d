import { type TArray, type TInteger, type TOptional, type TString, Type } from 'typebox';

import { SEARCH_LENGTH_MAX } from '#core/console/limits.ts';
import { IdText } from '#actions/fields.ts';

/** What a list that comes page by page takes: where the page begins, and how many rows it has. */
export function pageInput(
  usual: number,
  most: number,
): { readonly cursor: TOptional<TString>; readonly limit: TOptional<TInteger> } {
  return {
    cursor: Type.Optional(Type.String({ maxLength: 4_000, description: 'the nextCursor of the page before' })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: most, description: `${usual} when left out` })),
  };
}

/** Limits a list to what has the text in it. */
export function searchInput(description: string): TOptional<TString> {
  return Type.Optional(Type.String({ maxLength: SEARCH_LENGTH_MAX, description }));
}

/** Limits a list to what has these ids. */
export function idsInput(most: number): TOptional<TArray<typeof IdText>> {
  return Type.Optional(
    Type.Array(IdText, { maxItems: most, description: 'no others; one that is not there is left out' }),
  );
}

/** The first `limit` of the rows, and where the list goes on; one more was read, to know whether it does. */
export function pageOf<Row>(
  read: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): { readonly shown: Row[]; readonly nextCursor: string | null } {
  const shown = read.slice(0, limit);
  const last = read.length > limit ? shown.at(-1) : undefined;
  return { shown, nextCursor: last === undefined ? null : cursorOf(last) };
}
