import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { IdText, STRICT, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { CHAT_PLACES, placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';

export const listChatAccounts = defineAction({
  name: 'list_chat_accounts',
  consoleOnly: true,
  summary: 'List your chat accounts whose buttons act for you.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    accounts: Type.Array(
      Type.Object({
        chatAccountId: IdText,
        kind: Type.Enum([...CHAT_PLACES]),
        title: Type.String(),
        name: Type.String({ description: 'name of the account when it was linked' }),
        linkedAt: Timestamp,
      }),
    ),
  }),
  example: {},
  async handle(_input, { caller, stores }) {
    const accounts = await stores.chatAccounts.list(caller.orgId, callerUser(caller));
    return {
      accounts: accounts.map(({ id, kind, name, linkedAt, createdAt }) => ({
        chatAccountId: id,
        kind,
        title: placeDeclarationOf(kind).title,
        name: name ?? '',
        linkedAt: toTimestamp(linkedAt ?? createdAt),
      })),
    };
  },
});
