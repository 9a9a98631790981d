import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';

export const watchException = defineAction({
  name: 'watch_exception',
  consoleOnly: true,
  summary:
    'Ask for one mail when a resolved exception group comes back, or ask for it no more. It says nothing to anybody else.',
  permission: 'exceptions:view',
  effect: 'write',
  input: Type.Object({ groupId: IdText, isWatched: Type.Boolean() }, STRICT),
  result: Type.Object({ groupId: IdText, isWatched: Type.Boolean() }),
  example: { groupId: EXAMPLE_IDS.groupId, isWatched: true },
  async handle({ groupId, isWatched }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    const { id } = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const wasWatched = await stores.groupWatchers.has(id, userId);
    if (isWatched) await stores.groupWatchers.add(id, userId, now);
    else await stores.groupWatchers.remove(id, userId);
    record({ target: id, before: { isWatched: wasWatched }, after: { isWatched } });
    return { groupId: id, isWatched };
  },
});
