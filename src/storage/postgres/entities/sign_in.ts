import { p } from '@mikro-orm/postgresql';

import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { DomainProof, RoleMapping } from '#modules/sign_in/decide/claims.ts';
import { bigint, bytes, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const SessionEntity = table('sessions', {
  id: id<'session'>().primary(),
  userId: id<'user'>(),
  tokenHash: bytes(),
  address: p.text().strictNullable(),
  userAgent: p.text().strictNullable(),
  createdAt: instant(),
  lastUsedAt: instant(),
  expiresAt: instant(),
  /** Time at which a second factor was last shown in the session. */
  secondFactorAt: instant().strictNullable(),
  /** Organization whose provider signed the person in, the only one in which the session acts; null for a password. */
  providerOrgId: id<'org'>().strictNullable(),
});

export const InvitationEntity = table('invitations', {
  id: id<'invitation'>().primary(),
  orgId: id<'org'>(),
  email: p.text(),
  role: text<Role>(),
  /** Teams that the person joins. */
  teamIds: jsonColumn<readonly Id<'team'>[]>(),
  tokenHash: bytes(),
  /** Hash of the token of the mailed link, which nobody else is shown; null where no mail was sent. */
  mailedTokenHash: bytes().strictNullable(),
  invitedBy: id<'user'>().strictNullable(),
  createdAt: instant(),
  expiresAt: instant(),
  acceptedAt: instant().strictNullable(),
  revokedAt: instant().strictNullable(),
});

export const PasswordResetEntity = table('password_resets', {
  id: id<'reset'>().primary(),
  userId: id<'user'>(),
  tokenHash: bytes(),
  /** Whether the link went to the address of the account, and nowhere else. */
  isMailed: p.boolean().default(false),
  createdAt: instant(),
  expiresAt: instant(),
  usedAt: instant().strictNullable(),
});

export const SignInLimitEntity = table('sign_in_limits', {
  /** Name of what is tried, and by whom or for whom. */
  key: p.text().primary(),
  tries: p.integer(),
  since: instant(),
});

export const PasskeyEntity = table('passkeys', {
  /** The credential's own, in base64url. */
  id: p.text().primary(),
  userId: id<'user'>(),
  name: p.text(),
  publicKey: bytes(),
  counter: bigint(),
  transports: jsonColumn<readonly string[]>(),
  createdAt: instant(),
  lastUsedAt: instant().strictNullable(),
});

export const AuthenticatorAppEntity = table('authenticator_apps', {
  userId: id<'user'>().primary(),
  secretSealed: bytes(),
  confirmedAt: instant().strictNullable(),
  /** The period (30 s each, since 1970) of the last code that was accepted: no code is accepted twice. */
  lastPeriod: bigint().default(0),
});

export const RecoveryCodeEntity = table('recovery_codes', {
  userId: id<'user'>().primary(),
  codeHash: bytes().primary(),
  usedAt: instant().strictNullable(),
});

export const PendingSignInEntity = table('pending_sign_ins', {
  tokenHash: bytes().primary(),
  userId: id<'user'>(),
  expiresAt: instant(),
  /** Organization whose provider signed the person in; null for a password. */
  providerOrgId: id<'org'>().strictNullable(),
});

export const PasskeyChallengeEntity = table('passkey_challenges', {
  /** A session or a pending sign-in. */
  holder: p.text().primary(),
  challenge: p.text(),
  expiresAt: instant(),
});

export const OpenIdConnectionEntity = table('openid_connections', {
  orgId: id<'org'>().primary(),
  issuer: p.text(),
  clientId: p.text(),
  clientSecretSealed: bytes(),
  scope: p.text(),
  isEnabled: p.boolean().default(false),
  /** Whether everybody but owners has to sign in through it. */
  isRequired: p.boolean().default(false),
  /** Whether a second factor that the provider reports counts as one shown here. */
  trustsSecondFactor: p.boolean().default(false),
  /** Role of people whom signing in makes members; null where it makes none. */
  defaultRole: text<Exclude<Role, 'owner'>>().strictNullable(),
  /** Claim that roles are derived from; null where none is. */
  roleClaim: p.text().strictNullable(),
  roleMap: jsonColumn<readonly RoleMapping[]>(),
  /** Reason why the last sign-in that failed did, for owners; null before any has. */
  lastFault: p.text().strictNullable(),
  lastFaultAt: instant().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** A mail domain of an organization; proven ones belong to one organization of the installation. */
export const OpenIdDomainEntity = table('openid_domains', {
  orgId: id<'org'>().primary(),
  domain: p.text().primary(),
  /** Value of the TXT record that proves the domain. */
  token: p.text(),
  provenBy: text<DomainProof>().strictNullable(),
  provenAt: instant().strictNullable(),
  createdAt: instant(),
});

/** The account that somebody at a provider signs in to. */
export const OpenIdAccountEntity = table('openid_accounts', {
  orgId: id<'org'>().primary(),
  issuer: p.text().primary(),
  subject: p.text().primary(),
  userId: id<'user'>(),
  createdAt: instant(),
  lastUsedAt: instant(),
});
