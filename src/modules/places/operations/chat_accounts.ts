import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { CHAT_PLACES } from '#modules/places/decide/chat_places.ts';
import { placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { LINK_CODE_MINUTES, linkCodeHash, newLinkCode } from '#modules/places/link_chat_account.ts';

export const beginChatLink = defineOperation({
  name: 'begin_chat_link',
  summary: 'Make a code that links your chat account to you: type it in the chat within ten minutes.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({ kind: Type.Enum([...CHAT_PLACES]) }),
  result: Type.Object({
    code: Type.String({ description: 'shown this once' }),
    command: Type.String({ description: 'what is typed in the chat' }),
    expiresAt: Timestamp,
  }),
  example: { kind: 'slack' },
  async handle({ kind }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    const code = newLinkCode();
    const codeExpiresAt = now.add({ minutes: LINK_CODE_MINUTES });
    const made = { orgId: caller.orgId, userId, kind, codeHash: linkCodeHash(code), codeExpiresAt };
    await stores.chatAccounts.insertCode(made, now);
    record({ target: userId, before: null, after: { chatLinkCode: kind } });
    return { code, command: `/oncall link ${code}`, expiresAt: toTimestamp(codeExpiresAt) };
  },
});

export const listChatAccounts = defineOperation({
  name: 'list_chat_accounts',
  summary: 'List your chat accounts whose buttons act for you.',
  permission: 'organization:view',
  effect: 'read',
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

export const unlinkChatAccount = defineOperation({
  name: 'unlink_chat_account',
  summary: 'Unlink one of your chat accounts: its buttons act for you no more.',
  permission: 'organization:view',
  effect: 'delete',
  input: StrictObject({ chatAccountId: IdText }),
  result: Type.Object({ chatAccountId: IdText, unlinked: Type.Boolean() }),
  async handle({ chatAccountId }, { caller, stores, record }) {
    const userId = callerUser(caller);
    const { kind, account, name } = await stores.chatAccounts.remove(caller.orgId, userId, chatAccountId);
    record({ target: userId, before: { chatAccount: { kind, account, name } }, after: null });
    return { chatAccountId, unlinked: true };
  },
});
