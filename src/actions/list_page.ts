import { type TArray, type TInteger, type TOptional, type TString, Type } from 'typebox';

import { SEARCH_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { IdText } from '#actions/fields.ts';

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

/** Returns the parameter that limits a list to these ids. */
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
