import { defineEntity, p } from '@mikro-orm/postgresql';

import type { DomainProof } from '#modules/sign_in/decide/claims.ts';
import type { RoleMapping } from '#modules/sign_in/decide/role_of_claims.ts';
import type { Role } from '#kernel/permissions.ts';
import { bytes, id, instant, jsonColumn, text } from '#storage/postgres/entities/column_types.ts';

/** The OpenID Connect provider of an organization. */
export const OpenIdConnectionEntity = defineEntity({
  name: 'OpenIdConnection',
  tableName: 'openid_connections',
  properties: {
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
  },
});

/** A mail domain of an organization; proven ones belong to one organization of the installation. */
export const OpenIdDomainEntity = defineEntity({
  name: 'OpenIdDomain',
  tableName: 'openid_domains',
  properties: {
    orgId: id<'org'>().primary(),
    domain: p.text().primary(),
    /** Value of the TXT record that proves the domain. */
    token: p.text(),
    provenBy: text<DomainProof>().strictNullable(),
    provenAt: instant().strictNullable(),
    createdAt: instant(),
  },
});

/** The account that somebody at a provider signs in to. */
export const OpenIdAccountEntity = defineEntity({
  name: 'OpenIdAccount',
  tableName: 'openid_accounts',
  properties: {
    orgId: id<'org'>().primary(),
    issuer: p.text().primary(),
    subject: p.text().primary(),
    userId: id<'user'>(),
    createdAt: instant(),
    lastUsedAt: instant(),
  },
});
