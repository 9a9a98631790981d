import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';

/** Facts by which the account of somebody at a provider is found. */
export interface AccountFacts {
  /** Account that this subject of this issuer signs in to, with its present role; null for none. */
  readonly linked: { readonly userId: Id<'user'>; readonly role: Role | null } | null;
  /** Account with the mail address that the provider tells; null for none. */
  readonly ofAddress: {
    readonly userId: Id<'user'>;
    readonly role: Role | null;
    /** Whether another subject of this issuer signs in to it. */
    readonly hasOtherSubject: boolean;
  } | null;
  /** Person signed in with their password in this browser. */
  readonly signedIn: Id<'user'> | null;
}

export type AccountDecision =
  | { readonly kind: 'sign_in'; readonly userId: Id<'user'>; readonly role: Role; readonly isNewLink: boolean }
  | { readonly kind: 'create' };

/**
 * Decides which account somebody signs in to. A subject that is linked counts before an address. An address alone links
 * only an account that is a member already and no owner: it never opens an account of others, never one that was
 * removed, and never one that somebody else at the provider had. Throws `ProviderSignInError`.
 */
export function decideAccount({ linked, ofAddress, signedIn }: AccountFacts): AccountDecision {
  if (linked !== null) {
    if (linked.role === null) throw new ProviderSignInError('removed');
    return { kind: 'sign_in', userId: linked.userId, role: linked.role, isNewLink: false };
  }
  if (ofAddress === null) return { kind: 'create' };
  const { userId, role, hasOtherSubject } = ofAddress;
  if (role === null) throw new ProviderSignInError('not_invited');
  if (signedIn !== userId) {
    if (hasOtherSubject) throw new ProviderSignInError('other_subject');
    if (role === 'owner') throw new ProviderSignInError('owner_not_linked');
  }
  return { kind: 'sign_in', userId, role, isNewLink: true };
}
