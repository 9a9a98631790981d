import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, Name, nullable, StrictObject } from '#actions/fields.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { QUERY_LENGTH_MAX, searchQueryFaults } from '#modules/exceptions/decide/search_query.ts';
import { SAVED_SEARCHES_MAX, type SavedSearchRow } from '#modules/exceptions/store/saved_search_store.ts';

const Text = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

/** Filter of the list of exceptions, as its address has it. */
const SavedFilter = StrictObject(
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
  { description: 'filter of the list of exceptions, as its address has it' },
);

const SavedSearchView = Type.Object({
  searchId: IdText,
  name: Type.String(),
  filter: SavedFilter,
  isShared: Type.Boolean({ description: 'whether everybody of the organization sees it' }),
  isOwn: Type.Boolean(),
  ownerName: nullable(Type.String({ description: 'who saved it; null for somebody who has left' })),
});

function toSavedSearchView(
  { id, name, search, isShared, userId }: SavedSearchRow,
  caller: string,
  ownerName: string | null,
): Static<typeof SavedSearchView> {
  return { searchId: id, name, filter: { ...search }, isShared, isOwn: userId === caller, ownerName };
}

export const saveSearch = defineOperation({
  name: 'save_search',
  summary:
    "Keep a search of exceptions under a name, for oneself or for the organization. With searchId it replaces that one, which has to be one's own.",
  permission: 'exceptions:view',
  effect: 'write',
  input: StrictObject({ searchId: Type.Optional(IdText), name: Name, filter: SavedFilter, isShared: Type.Boolean() }),
  result: SavedSearchView,
  conflict: `a person has ${SAVED_SEARCHES_MAX} searches`,
  validate: ({ filter }) =>
    typeof filter === 'object' && filter !== null && 'q' in filter && typeof filter.q === 'string'
      ? searchQueryFaults('filter.q', filter.q)
      : [],
  example: {
    searchId: EXAMPLE_IDS.searchId,
    name: 'Checkout, mine',
    filter: { service: EXAMPLE_IDS.serviceId, assigned: 'my_teams', q: 'file:checkout.ts' },
    isShared: true,
  },
  async handle({ searchId, name, filter, isShared }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    if (isShared && !caller.permissions.has('exceptions:edit')) {
      throw new AppError('forbidden', 'sharing a search needs the permission exceptions:edit: keep it for yourself');
    }
    const replaced = searchId === undefined ? null : await stores.savedSearches.getOwn(caller.orgId, userId, searchId);
    if (replaced === null && (await stores.savedSearches.countOf(caller.orgId, userId)) >= SAVED_SEARCHES_MAX) {
      throw new AppError('conflict', `you keep ${SAVED_SEARCHES_MAX} searches, which is the most: delete one first`);
    }
    const others = await stores.savedSearches.list(caller.orgId, userId);
    if (others.some((other) => other.id !== replaced?.id && other.userId === userId && other.name === name.trim())) {
      throw invalidInput([{ path: 'name', message: 'is the name of another search of yours: choose another one' }]);
    }
    const saved = await stores.savedSearches.save(
      { id: replaced?.id ?? null, orgId: caller.orgId, userId, name: name.trim(), search: filter, isShared },
      now,
    );
    const fields = ({ name: of, search, isShared: shared }: Pick<typeof saved, 'name' | 'search' | 'isShared'>) => {
      return { name: of, search, isShared: shared };
    };
    record({ target: saved.id, before: replaced && fields(replaced), after: fields(saved) });
    return toSavedSearchView(saved, userId, null);
  },
});

export const deleteSavedSearch = defineOperation({
  name: 'delete_saved_search',
  summary: "Delete one's own saved search, or a shared one whose owner has left.",
  permission: 'exceptions:view',
  effect: 'delete',
  input: StrictObject({ searchId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), searchId: IdText }),
  async handle({ searchId }, { caller, stores, record }) {
    const search = await stores.savedSearches.getOwn(caller.orgId, callerUser(caller), searchId);
    await stores.savedSearches.delete(search.id);
    record({ target: search.id, before: { name: search.name, isShared: search.isShared }, after: null });
    return { deleted: true as const, searchId: search.id };
  },
});

export const listSavedSearches = defineOperation({
  name: 'list_saved_searches',
  summary: "List one's own saved searches of exceptions, and those that others share, by name.",
  permission: 'exceptions:view',
  effect: 'read',
  result: Type.Object({ searches: Type.Array(SavedSearchView) }),
  async handle(_input, { caller, stores }) {
    const userId = callerUser(caller);
    const searches = await stores.savedSearches.list(caller.orgId, userId);
    const owners = await stores.people.listPeople(
      caller.orgId,
      searches.flatMap((search) => search.userId ?? []),
    );
    return {
      searches: searches.map((search) =>
        toSavedSearchView(search, userId, owners.get(search.userId ?? '')?.name ?? null),
      ),
    };
  },
});
