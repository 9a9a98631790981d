import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, Name } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { searchQueryFaults } from '#modules/exceptions/decide/search_query.ts';
import { SavedFilter, SavedSearchView, toSavedSearchView } from '#modules/exceptions/operations/search/saved_search.ts';
import { SAVED_SEARCHES_MAX } from '#modules/exceptions/store/saved_search_store.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';

export const saveSearch = defineAction({
  name: 'save_search',
  consoleOnly: true,
  summary:
    "Keep a search of exceptions under a name, for oneself or for the organization. With searchId it replaces that one, which has to be one's own.",
  permission: 'exceptions:view',
  effect: 'write',
  input: Type.Object(
    { searchId: Type.Optional(IdText), name: Name, filter: SavedFilter, isShared: Type.Boolean() },
    STRICT,
  ),
  result: SavedSearchView,
  conflict: `a person has ${SAVED_SEARCHES_MAX} searches`,
  meaning: ({ filter }) =>
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
