import { type Static, Type } from 'typebox';

import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { QUERY_LENGTH_MAX } from '#modules/exceptions/decide/search_query.ts';
import type { SavedSearchRow } from '#modules/exceptions/store/saved_search_store.ts';

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

/** Filter of the list of exceptions, as its address has it. */
export const SavedFilter = Type.Object(
  {
    status: Text,
    service: Text,
    severity: Text,
    environment: Text,
    release: Text,
    isNew: Text,
    assigned: Text,
    sort: Text,
    q: Type.Optional(Type.String({ minLength: 1, maxLength: QUERY_LENGTH_MAX })),
  },
  { ...STRICT, description: 'filter of the list of exceptions, as its address has it' },
);

export const SavedSearchView = Type.Object({
  searchId: IdText,
  name: Type.String(),
  filter: SavedFilter,
  isShared: Type.Boolean({ description: 'whether everybody of the organization sees it' }),
  isOwn: Type.Boolean(),
  ownerName: nullable(Type.String({ description: 'who saved it; null for somebody who has left' })),
});

export function toSavedSearchView(
  { id, name, search, isShared, userId }: SavedSearchRow,
  caller: string,
  ownerName: string | null,
): Static<typeof SavedSearchView> {
  return { searchId: id, name, filter: { ...search }, isShared, isOwn: userId === caller, ownerName };
}
