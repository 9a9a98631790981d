import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { SavedSearchView, toSavedSearchView } from '#modules/exceptions/operations/search/saved_search.ts';

export const listSavedSearches = defineAction({
  name: 'list_saved_searches',
  consoleOnly: true,
  summary: "List one's own saved searches of exceptions, and those that others share, by name.",
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({ searches: Type.Array(SavedSearchView) }),
  example: {},
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
