import type { Claims } from '#modules/sign_in/decide/claims.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { type Role, ROLES } from '#kernel/permissions.ts';

/** Role of people in whose claim stands this value. */
export interface RoleMapping {
  readonly value: string;
  readonly role: Role;
}

/** Rules for the roles of people who sign in through the provider. */
export interface RoleRules {
  /** Role of new members; null where signing in makes nobody a member. */
  readonly defaultRole: Exclude<Role, 'owner'> | null;
  /** Claim that roles are derived from; null where the provider says nothing about roles. */
  readonly roleClaim: string | null;
  readonly roleMap: readonly RoleMapping[];
}

/** Values of a claim that are read; a person in more groups has the roles of the first. */
const VALUES_MAX = 1_000;

/**
 * Returns the role that the claim gives: the highest that it maps to, else the default one; null for none. Only a
 * mapping to `owner` makes an owner. Throws `role_unreadable` for a claim that is neither a text nor a list of texts.
 */
export function roleOfClaims(claims: Claims, { defaultRole, roleClaim, roleMap }: RoleRules): Role | null {
  if (roleClaim === null) return defaultRole;
  const values = new Set(readValues(findClaim(claims, roleClaim)));
  const mapped = new Set(roleMap.filter(({ value }) => values.has(value)).map(({ role }) => role));
  return ROLES.find((role) => mapped.has(role)) ?? defaultRole;
}

function readValues(claim: unknown): readonly string[] {
  if (claim === undefined || claim === null) return [];
  if (typeof claim === 'string') return [claim];
  if (!Array.isArray(claim)) throw new ProviderSignInError('role_unreadable');
  return claim.slice(0, VALUES_MAX).map((value: unknown) => {
    if (typeof value !== 'string') throw new ProviderSignInError('role_unreadable');
    return value;
  });
}

/** Finds a claim by its name, or by a path such as `realm_access.roles`. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let inner: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, part)) return undefined;
    inner = (inner as Claims)[part];
  }
  return inner;
}

/** Facts of a membership for which a role is decided. */
interface PresentMember {
  readonly role: Role;
  readonly isLastOwner: boolean;
}

/**
 * Returns the role that a member has after signing in. The provider takes the role of an owner away only where it also
 * gives that role, and never that of the last one.
 */
export function roleAfterSignIn(present: PresentMember, claims: Claims, rules: RoleRules): Role {
  if (rules.roleClaim === null) return present.role;
  const role = roleOfClaims(claims, rules);
  const mapsOwners = rules.roleMap.some((mapping) => mapping.role === 'owner');
  if (present.role === 'owner' && (!mapsOwners || present.isLastOwner)) return 'owner';
  if (role === null) throw new ProviderSignInError('no_role');
  return role;
}
