import { type Static, Type } from 'typebox';

import { nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { ROLES } from '#kernel/permissions.ts';
import { toTimestampOrNull } from '#kernel/time.ts';
import type { Stores } from '#modules/stores.ts';
import { proofRecordOf } from '#modules/sign_in/decide/claims.ts';
import type { OpenIdConnectionRow, OpenIdDomainRow } from '#modules/sign_in/store.ts';

const ROLES_MAX = 100;

const MemberRole = Type.Enum(ROLES.filter((role) => role !== 'owner'));

/** Settings of a provider that people enter, without its secret. */
export const CONNECTION_FIELDS = {
  issuer: Type.String({
    pattern: '^https://[^\\s?#]+$',
    maxLength: 500,
    description: 'address of the provider, exactly as its discovery document names it',
  }),
  clientId: Type.String({ minLength: 1, maxLength: 500, pattern: '^\\S+$' }),
  scope: Type.String({
    pattern: '^openid( [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$',
    maxLength: 500,
    description: 'begins with openid, such as openid email profile',
  }),
  isEnabled: Type.Boolean(),
  isRequired: Type.Boolean({ description: 'whether everybody but owners has to sign in through the provider' }),
  trustsSecondFactor: Type.Boolean({
    description: 'whether a second factor that the provider reports (amr) counts as one shown here',
  }),
  defaultRole: nullable(MemberRole),
  roleClaim: nullable(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'claim with the groups or roles of a person, or a path such as realm_access.roles',
    }),
  ),
  roleMap: Type.Array(
    StrictObject({ value: Type.String({ minLength: 1, maxLength: 500 }), role: Type.Enum([...ROLES]) }),
    { maxItems: ROLES_MAX, description: 'role of people in whose claim a value stands; the highest counts' },
  ),
};

const ConnectionView = Type.Object({
  ...CONNECTION_FIELDS,
  people: Type.Integer({ description: 'accounts that were signed in to through it' }),
  lastFault: nullable(Type.String({ description: 'why the last sign-in that failed did' })),
  lastFaultAt: nullable(Timestamp),
});

export const DomainView = Type.Object({
  domain: Type.String(),
  provenBy: nullable(Type.Enum(['dns', 'operator'])),
  provenAt: nullable(Timestamp),
  record: Type.Object(
    { name: Type.String(), value: Type.String() },
    { description: 'TXT record in the DNS that proves the domain' },
  ),
});

export const SignInSettingsView = Type.Object({
  connection: nullable(ConnectionView),
  domains: Type.Array(DomainView),
  redirectUri: Type.String({ description: 'address to enter at the provider' }),
  signOutUri: Type.String({ description: 'address to enter at the provider, to which it sends people who signed out' }),
  logoutUri: Type.String({ description: 'address to which the provider reports that somebody signed out there' }),
  signInLink: Type.String({ description: 'address at which people begin' }),
  keyNetworks: nullable(Type.Array(Type.String())),
  sessionNetworks: nullable(Type.Array(Type.String())),
});

/** Returns the address to which the provider of an organization sends people back: each organization has its own. */
export function redirectUriOf(baseUrl: string, orgId: string): string {
  return `${baseUrl}/api/console/sign-in/${orgId}/callback`;
}

/** Returns the address to which providers send people back who have signed out. */
export function signOutUriOf(baseUrl: string): string {
  return `${baseUrl}/login`;
}

export async function readSignInSettings(
  { openId }: Pick<Stores, 'openId'>,
  orgId: Id<'org'>,
  baseUrl: string,
): Promise<Static<typeof SignInSettingsView>> {
  const connection = await openId.findConnection(orgId);
  const { keyNetworks, sessionNetworks } = await openId.findNetworks(orgId);
  return {
    connection:
      connection === null
        ? null
        : {
            ...auditedConnection(connection),
            people: await openId.countFollowers(orgId, connection.issuer),
            lastFault: connection.lastFault,
            lastFaultAt: toTimestampOrNull(connection.lastFaultAt),
          },
    domains: (await openId.listDomains(orgId)).map(toDomainView),
    redirectUri: redirectUriOf(baseUrl, orgId),
    signOutUri: signOutUriOf(baseUrl),
    logoutUri: `${baseUrl}/api/console/sign-in/${orgId}/logout`,
    signInLink: `${baseUrl}/login?organization=${orgId}`,
    keyNetworks: keyNetworks === null ? null : [...keyNetworks],
    sessionNetworks: sessionNetworks === null ? null : [...sessionNetworks],
  };
}

/** Returns what the audit log records about a connection: all but its secret. */
export function auditedConnection(connection: OpenIdConnectionRow) {
  const { issuer, clientId, scope, isEnabled, isRequired, trustsSecondFactor, defaultRole, roleClaim } = connection;
  const roleMap = connection.roleMap.map(({ value, role }) => ({ value, role }));
  return { issuer, clientId, scope, isEnabled, isRequired, trustsSecondFactor, defaultRole, roleClaim, roleMap };
}

export function toDomainView({ domain, provenBy, provenAt, token }: OpenIdDomainRow): Static<typeof DomainView> {
  return { domain, provenBy, provenAt: toTimestampOrNull(provenAt), record: proofRecordOf(domain, token) };
}
