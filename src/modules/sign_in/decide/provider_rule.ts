import { isManagerRole, type Role } from '#kernel/permissions.ts';
import type { Id } from '#kernel/ids.ts';

/** Rule of an organization whose provider is enabled. */
export interface ProviderRule {
  /** Whether everybody but owners has to sign in through the provider. */
  readonly isRequired: boolean;
  /** Whether a second factor that the provider reports counts as one shown here. */
  readonly trustsSecondFactor: boolean;
}

/** The way by which a session was begun, as seen from one organization. */
export type SignedInBy = 'password' | 'own_provider' | 'other_provider';

/** Returns the way by which a session was begun, as seen from the organization. */
export function signedInBy(providerOrgId: Id<'org'> | null, orgId: Id<'org'>): SignedInBy {
  if (providerOrgId === null) return 'password';
  return providerOrgId === orgId ? 'own_provider' : 'other_provider';
}

/**
 * Returns why a session that was begun this way does not act in the organization; null when it does. What one
 * organization's provider says of a person must not open another organization, and owners keep the password, so that a
 * provider that is away or set up wrongly locks nobody out for good.
 */
export function refusedSignIn(
  by: SignedInBy,
  { role, providerRule }: { readonly role: Role; readonly providerRule: ProviderRule | null },
): 'other_provider' | 'provider_required' | null {
  if (by === 'other_provider') return 'other_provider';
  if (by === 'own_provider') return providerRule === null ? 'provider_required' : null;
  return providerRule?.isRequired === true && role !== 'owner' ? 'provider_required' : null;
}

/** Whether the provider showed the second factor of a session, and the organization takes that for one of its own. */
export function hasProviderFactor(
  by: SignedInBy,
  { role, providerRule }: { readonly role: Role; readonly providerRule: ProviderRule | null },
  isFactorShown: boolean,
): boolean {
  return isManagerRole(role) && by === 'own_provider' && isFactorShown && providerRule?.trustsSecondFactor === true;
}
