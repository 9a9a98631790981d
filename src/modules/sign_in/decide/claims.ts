import { type Role, ROLES } from '#kernel/permissions.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';

/** Proof of a domain: a record in the DNS, or the word of whoever runs the installation. */
export type DomainProof = 'dns' | 'operator';

/** Proven mail domains, in lower case. */
export type MailDomains = ReadonlySet<string>;

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DOMAIN = new RegExp(`^(?:${LABEL}\\.)+${LABEL}$`);
const DOMAIN_LENGTH_MAX = 253;

/** Parses a mail domain and returns it in lower case; null for what is none. */
export function parseMailDomain(text: string): string | null {
  const domain = text.trim().replace(/^@/, '').toLowerCase();
  return domain.length <= DOMAIN_LENGTH_MAX && DOMAIN.test(domain) && !/^[\d.]+$/.test(domain) ? domain : null;
}

/** Returns the domain of a mail address, in lower case. */
export function mailDomainOf(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

export function proofRecordOf(domain: string, token: string): { readonly name: string; readonly value: string } {
  return { name: `_tocsin.${domain}`, value: `tocsin-domain=${token}` };
}

/** Words of a provider about a person. */
export type Claims = Readonly<Record<string, unknown>>;

export interface Profile {
  /** Identifies the person at the provider for good; mail addresses change hands. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** Whether the provider says that a second factor was shown. */
  readonly hasShownFactor: boolean;
}

const SUBJECT_LENGTH_MAX = 255;
const MAIL_LENGTH_MAX = 320;
const NAME_LENGTH_MAX = 200;

/** Methods by which more than a password was shown (RFC 8176). */
const FACTOR_METHODS: ReadonlySet<unknown> = new Set(['mfa', 'otp', 'hwk', 'swk', 'fpt', 'face', 'iris', 'sc', 'pop']);

const MICROSOFT = 'https://login.microsoftonline.com/';
const TRUE_AS_SENT: ReadonlySet<unknown> = new Set([true, 1, '1', 'true']);

/**
 * Reads the profile out of verified claims. Throws `ProviderSignInError` for an address that the provider has not
 * verified, that is in none of the organization's proven domains, or that could be taken for another one.
 */
export function readProfile(claims: Claims, issuer: string, domains: MailDomains): Profile {
  const { sub: subject, email } = claims;
  if (typeof subject !== 'string' || subject === '' || subject.length > SUBJECT_LENGTH_MAX) {
    throw new ProviderSignInError('not_verified');
  }
  if (typeof email !== 'string' || email.length > MAIL_LENGTH_MAX) throw new ProviderSignInError('address_missing');
  // Letters beyond ASCII look like others, and some of them become ASCII in lower case.
  if (!/^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/.test(email)) throw new ProviderSignInError('address_unreadable');
  if (!isVerified(claims, issuer)) throw new ProviderSignInError('address_unverified');
  if (!domains.has(mailDomainOf(email))) throw new ProviderSignInError('foreign_domain');
  return { subject, email, name: nameIn(claims, email), hasShownFactor: showsFactor(claims) };
}

/** Microsoft has no `email_verified`: it says with `xms_edov` whether the owner of the domain vouches for the address. */
function isVerified(claims: Claims, issuer: string): boolean {
  if (claims['email_verified'] === true) return true;
  return claims['email_verified'] === undefined && issuer.startsWith(MICROSOFT) && TRUE_AS_SENT.has(claims['xms_edov']);
}

function nameIn({ name }: Claims, email: string): string {
  const text =
    typeof name === 'string'
      ? name
          .toWellFormed()
          .replaceAll(/\p{Cc}/gu, ' ')
          .trim()
      : '';
  return (text === '' ? email.slice(0, email.indexOf('@')) : text).slice(0, NAME_LENGTH_MAX);
}

function showsFactor({ amr }: Claims): boolean {
  return Array.isArray(amr) && amr.some((method) => FACTOR_METHODS.has(method));
}

/** Adds what the userinfo endpoint says. An address counts only together with the word of the same source about it. */
export function withUserInfo(claims: Claims, userInfo: Claims): Claims {
  if (claims['email'] !== undefined) return { ...userInfo, ...claims };
  const { email_verified: _unrelated, ...others } = claims;
  return { ...userInfo, ...others };
}

/** Role of people in whose claim stands this value. */
export interface RoleMapping {
  readonly value: string;
  readonly role: Role;
}

/** Rules for the roles of people who sign in through the provider. */
interface RoleRules {
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
