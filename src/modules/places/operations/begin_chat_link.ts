import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { CHAT_PLACES } from '#modules/places/decide/place_kinds.ts';
import { LINK_CODE_MINUTES, linkCodeHash, newLinkCode } from '#modules/places/link_chat_account.ts';

export const beginChatLink = defineAction({
  name: 'begin_chat_link',
  consoleOnly: true,
  summary: 'Make a code that links your chat account to you: type it in the chat within ten minutes.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object({ kind: Type.Enum([...CHAT_PLACES]) }, STRICT),
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
