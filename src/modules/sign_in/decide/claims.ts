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

/** Returns the TXT record that proves a domain. */
export function proofRecordOf(domain: string, token: string): { readonly name: string; readonly value: string } {
  return { name: `_tocsin.${domain}`, value: `tocsin-domain=${token}` };
}

/** Words of a provider about a person. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person as their provider describes them. */
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
  if (!/^[\x21-\x3f\x41-\x7e]+@[\x21-\x3f\x41-\x7e]+$/.test(email)) {
    throw new ProviderSignInError('address_unreadable');
  }
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
