import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';

export const deleteSavedSearch = defineAction({
  name: 'delete_saved_search',
  consoleOnly: true,
  summary: "Delete one's own saved search, or a shared one whose owner has left.",
  permission: 'exceptions:view',
  effect: 'delete',
  input: Type.Object({ searchId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), searchId: IdText }),
  example: { searchId: EXAMPLE_IDS.searchId },
  async handle({ searchId }, { caller, stores, record }) {
    const search = await stores.savedSearches.getOwn(caller.orgId, callerUser(caller), searchId);
    await stores.savedSearches.delete(search.id);
    record({ target: search.id, before: { name: search.name, isShared: search.isShared }, after: null });
    return { deleted: true as const, searchId: search.id };
  },
});
