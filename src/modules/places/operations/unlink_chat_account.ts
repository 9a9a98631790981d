import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';

export const unlinkChatAccount = defineAction({
  name: 'unlink_chat_account',
  consoleOnly: true,
  summary: 'Unlink one of your chat accounts: its buttons act for you no more.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object({ chatAccountId: IdText }, STRICT),
  result: Type.Object({ chatAccountId: IdText, unlinked: Type.Boolean() }),
  example: { chatAccountId: IDS.chatAccountId },
  async handle({ chatAccountId }, { caller, stores, record }) {
    const userId = callerUser(caller);
    const { kind, account, name } = await stores.chatAccounts.remove(caller.orgId, userId, chatAccountId);
    record({ target: userId, before: { chatAccount: { kind, account, name } }, after: null });
    return { chatAccountId, unlinked: true };
  },
});
