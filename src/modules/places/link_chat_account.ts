import { createHash, randomInt } from 'node:crypto';

import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { isAbove, type Role } from '#kernel/permissions.ts';
import type { ChatIdentity } from '#modules/places/store/place_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Letters that nobody mistakes for others. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 10;

/** Minutes for which a code may be typed. */
export const LINK_CODE_MINUTES = 10;

/** Tries of one chat account, so that nobody finds a code by trying. */
export const LINK_TRIES = { max: 10, windowSeconds: 900 } as const;

/** A new code of 50 bits. */
export function newLinkCode(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** Returns the hash of a code as it was typed: in any case, with any spaces and dashes. */
export function linkCodeHash(typed: string): Buffer {
  const code = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  return createHash('sha256').update(code).digest();
}

/** A chat account that the vendor has signed for. */
interface TypingAccount extends ChatIdentity {
  readonly placeId: Id<'place'>;
  readonly name: string;
  /** Role of whoever knows the secret of the place. */
  readonly secretRole: Role;
}

/**
 * Links a chat account to the person whose code was typed, and returns their name; null for a wrong code. Throws
 * `forbidden` where that takes the account from somebody whose role is above the role that knows the secret of the place:
 * who knows it can type in the name of any account.
 */
export async function linkChatAccount(
  { stores, now }: UnitOfWork,
  { orgId, placeId, kind, account, name, secretRole }: TypingAccount,
  typed: string,
  origin: RequestOrigin,
): Promise<string | null> {
  const code = await stores.chatAccounts.lockCode({ orgId, kind, codeHash: linkCodeHash(typed) }, now);
  if (code === null) return null;
  const person = (await stores.people.listPeople(orgId, [code.userId])).get(code.userId);
  if (person === undefined) return null;
  const before = await stores.chatAccounts.lock({ orgId, kind, account });
  if (before !== null && before.userId !== code.userId) {
    const role = await stores.people.findRole(orgId, before.userId);
    if (role !== null && isAbove(role, secretRole)) {
      throw new AppError(
        'forbidden',
        'this chat account is linked to somebody, and this place was set up by somebody of a lower role: unlink it in the console first',
      );
    }
  }
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
