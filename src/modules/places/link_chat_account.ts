import type { RequestOrigin } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { linkCodeHash } from '#modules/places/link_codes.ts';
import type { ChatIdentity } from '#modules/places/store/chat_account_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** A chat account that the vendor has signed for. */
interface TypingAccount extends ChatIdentity {
  readonly placeId: Id<'place'>;
  readonly name: string;
}

/** Links a chat account to the person whose code was typed, and returns their name; null for a wrong code. */
export async function linkChatAccount(
  { stores, now }: UnitOfWork,
  { orgId, placeId, kind, account, name }: TypingAccount,
  typed: string,
  origin: RequestOrigin,
): Promise<string | null> {
  const code = await stores.chatAccounts.lockCode({ orgId, kind, codeHash: linkCodeHash(typed) }, now);
  if (code === null) return null;
  const person = (await stores.people.listPeople(orgId, [code.userId])).get(code.userId);
  if (person === undefined) return null;
  await stores.chatAccounts.link(code, account, name, now);
  const chatAccount = { placeId, account, name };
  const actor = { kind: 'user', userId: code.userId, apiKeyId: null, chatAccount } as const;
  const made = {
    orgId,
    actor,
    via: kind,
    action: 'link_chat_account',
    target: code.userId,
    result: 'done',
    origin,
  } as const;
  await stores.audit.append({ ...made, before: null, after: { chatAccount: { kind, account, name } } }, now);
  return person.name;
}
