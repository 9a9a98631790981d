import { Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { pageInput, pageOf, parseTimeCursor, timeCursorOf } from '#actions/list_page.ts';
import { endOf, livenessAt } from '#auth/sessions.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, type Fault, invalidInput, notFound } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { isWithin, parseNetwork } from '#modules/sign_in/decide/networks.ts';
import { ProviderSignInError } from '#modules/sign_in/decide/sign_in_fault.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import {
  auditedConnection,
  CONNECTION_FIELDS,
  readSignInSettings,
  SignInSettingsView,
} from '#modules/sign_in/sign_in_view.ts';
import { addSignInDomain, proveSignInDomain, removeSignInDomain } from './domains.ts';
import { beginProviderSignIn, completeProviderSignIn } from './provider_sign_in.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

const MemberSessionView = Type.Object({
  sessionId: IdText,
  user: Type.Object({ userId: IdText, name: Type.String(), email: Type.String() }),
  by: Type.Enum(['password', 'provider']),
  createdAt: Timestamp,
  lastUsedAt: Timestamp,
  expiresAt: Type.String({ format: 'date-time', description: 'unless it is used again before' }),
  address: nullable(Type.String({ description: 'address at which it was begun' })),
  userAgent: nullable(Type.String()),
});

const listOrganizationSessions = defineOperation({
  name: 'list_organization_sessions',
  summary:
    'Find the sessions of members that can act in the organization, page by page, newest first. Sessions through the provider of another organization are not among them. Only owners may.',
  permission: 'organization:manage',
  effect: 'read',
  input: StrictObject({ userId: Type.Optional(IdText), ...pageInput(LIMIT, LIMIT_MAX) }),
  result: Type.Object({
    sessions: Type.Array(MemberSessionView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  refusals: ['not_found'],
  example: { userId: EXAMPLE_IDS.userId, cursor: '1767225600000.session_01k9z8e4rnf7ktv2x5m6w0abqd', limit: 20 },
  async handle({ userId, cursor, limit = LIMIT }, context) {
    const { caller, stores, now } = context;
    await requireOwner(context);
    if (userId !== undefined && (await stores.people.findRole(caller.orgId, asId('user', userId))) === null) {
      throw notFound('userId', 'member');
    }
    const wanted = { orgId: caller.orgId, userId, liveness: livenessAt(now) };
    const rows = await stores.sessions.listOfOrganization(wanted, {
      after: cursor === undefined ? null : parseTimeCursor('session', cursor),
      limit: limit + 1,
    });
    const { shown, nextCursor } = pageOf(rows, limit, (last) =>
      timeCursorOf({ at: last.createdAt, id: last.sessionId }),
    );
    return {
      sessions: shown.map((session) => ({
        sessionId: session.sessionId,
        user: { userId: session.userId, name: session.name, email: session.email },
        by: session.providerOrgId === null ? ('password' as const) : ('provider' as const),
        createdAt: toTimestamp(session.createdAt),
        lastUsedAt: toTimestamp(session.lastUsedAt),
        expiresAt: toTimestamp(endOf(session)),
        address: session.address,
        userAgent: session.userAgent,
      })),
      total: await stores.sessions.countOfOrganization(wanted),
      nextCursor,
    };
  },
});

const endMemberSessions = defineOperation({
  name: 'end_member_sessions',
  stepUp: true,
  summary:
    'End one session of a member, or all of them: from the next request on the person has to sign in again, and open streams end. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({
    userId: IdText,
    sessionId: Type.Optional(Type.String({ description: 'only this one; all when left out' })),
  }),
  result: Type.Object({ deleted: Type.Literal(true), userId: IdText, endedSessions: Type.Integer() }),
  example: { sessionId: EXAMPLE_IDS.sessionId },
  async handle({ userId, sessionId }, context) {
    const { caller, stores, record } = context;
    const { orgId } = caller;
    await requireOwner(context);
    const id = asId('user', userId);
    if ((await stores.people.findRole(orgId, id)) === null) throw notFound('userId', 'member');
    const ended = await stores.sessions.endOfMember(orgId, id, sessionId ?? null);
    if (sessionId !== undefined && ended.length === 0)
      throw new AppError('not_found', 'the member has no such session');
    for (const session of ended) record({ target: session, before: { userId, live: true }, after: null });
    return { deleted: true as const, userId, endedSessions: ended.length };
  },
});

const setOpenidConnection = defineOperation({
  name: 'set_openid_connection',
  stepUp: true,
  summary:
    'Connect the OpenID Connect provider of the organization, or change the connection. The provider is asked for its discovery document first. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    ...CONNECTION_FIELDS,
    clientSecret: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1_000, description: 'may be left out where one is kept already' }),
    ),
  }),
  result: SignInSettingsView,
  conflict: 'the provider would be required although nobody has signed in through it yet',
  example: {
    issuer: 'https://login.example.com',
    clientId: 'tocsin',
    clientSecret: 'the secret of the client',
    scope: 'openid email profile',
    isEnabled: true,
    isRequired: false,
    trustsSecondFactor: false,
    defaultRole: 'responder',
    roleClaim: 'groups',
    roleMap: [{ value: 'platform', role: 'editor' }],
  },
  async prepare({ issuer }, { installation }) {
    try {
      return await installation.openId.findIssuer(issuer);
    } catch (error) {
      if (!(error instanceof ProviderSignInError)) throw error;
      throw invalidInput([
        {
          path: 'issuer',
          message:
            'has no discovery document that can be used: it must answer over https at /.well-known/openid-configuration, name this issuer exactly, and sign with an asymmetric algorithm',
        },
      ]);
    }
  },
  async handle({ clientSecret, ...fields }, context, issuer) {
    const { caller, stores, now, record, installation, baseUrl } = context;
    const { orgId } = caller;
    await requireOwner(context);
    const before = await stores.openId.findConnection(orgId);
    const cipher = installation.ciphers.openIdSecrets;
    // A secret is sent only to the provider that it was entered for.
    const kept = before?.issuer === issuer && before.clientId === fields.clientId ? before.clientSecretSealed : null;
    const clientSecretSealed = clientSecret === undefined ? kept : cipher.encrypt(clientSecret);
    if (clientSecretSealed === null) {
      throw invalidInput([{ path: 'clientSecret', message: 'is required for a new issuer or client' }]);
    }
    if (fields.isRequired && (await stores.openId.countFollowers(orgId, issuer)) === 0) {
      throw new AppError('conflict', 'sign in through the provider once yourself before you require it of everybody');
    }
    const connection = {
      ...fields,
      orgId,
      issuer,
      clientSecretSealed,
      lastFault: before?.lastFault ?? null,
      lastFaultAt: before?.lastFaultAt ?? null,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    await stores.openId.saveConnection(connection);
    record({
      target: orgId,
      before: before && { openIdConnection: auditedConnection(before) },
      after: {
        openIdConnection: auditedConnection(connection),
        ...(clientSecret !== undefined && { secretReplaced: true }),
      },
    });
    return await readSignInSettings(stores, orgId, baseUrl);
  },
});

const removeOpenidConnection = defineOperation({
  name: 'remove_openid_connection',
  stepUp: true,
  summary:
    'Disconnect the provider of the organization. Sessions that were begun through it act no more from the next request on. Only owners may.',
  permission: 'organization:manage',
  effect: 'delete',
  result: Type.Object({ deleted: Type.Literal(true) }),
  async handle(_input, context) {
    const { caller, stores, record } = context;
    await requireOwner(context);
    const before = await stores.openId.findConnection(caller.orgId);
    if (before === null) throw new AppError('not_found', 'no provider is connected');
    await stores.openId.removeConnection(caller.orgId);
    record({ target: caller.orgId, before: { openIdConnection: auditedConnection(before) }, after: null });
    return { deleted: true as const };
  },
});

export const getSignInSettings = defineOperation({
  name: 'get_sign_in_settings',
  summary: 'Show how people sign in to the organization: its provider, its mail domains, and the networks it admits.',
  permission: 'organization:manage',
  effect: 'read',
  result: SignInSettingsView,
  handle: (_input, { caller, stores, baseUrl }) => readSignInSettings(stores, caller.orgId, baseUrl),
});

const NETWORKS_MAX = 200;

const Networks = nullable(
  Type.Array(Type.String({ minLength: 1, maxLength: 60 }), {
    minItems: 1,
    maxItems: NETWORKS_MAX,
    description: 'addresses and networks such as 192.0.2.0/24; null admits everywhere',
  }),
);

const LISTS = { keyNetworks: Networks, sessionNetworks: Networks };

export const setAddressLists = defineOperation({
  name: 'set_address_lists',
  stepUp: true,
  summary:
    'Say from which networks API keys and connected apps may act in the organization, and from which people may act in the console. It counts from the next request on, also for open streams. Only owners may.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ ...LISTS, basedOn: Type.Optional(StrictObject(LISTS)) }),
  result: Type.Object(LISTS),
  conflict: 'your own address is not in the list, or somebody has changed the lists since they were read',
  example: {
    keyNetworks: ['192.0.2.0/24'],
    sessionNetworks: ['192.0.2.0/24', '2001:db8::/32'],
    basedOn: { keyNetworks: null, sessionNetworks: null },
  },
  async handle(input, context) {
    const { caller, stores, record, address } = context;
    const { orgId } = caller;
    const lists = {
      keyNetworks: readNetworks('keyNetworks', input.keyNetworks),
      sessionNetworks: readNetworks('sessionNetworks', input.sessionNetworks),
    };
    await requireOwner(context);
    // Whoever uses the command line of the installation is not kept out by a list.
    if (caller.actor.kind !== 'system' && !isWithin(address, lists.sessionNetworks)) {
      throw new AppError(
        'conflict',
        `your own address ${address ?? ''} is not in sessionNetworks, so you would lock yourself out; add it`,
      );
    }
    const before = await stores.openId.findNetworks(orgId);
    if (input.basedOn !== undefined) changesSince(input.basedOn, before, lists, 'the lists of addresses');
    await stores.openId.setNetworks(orgId, lists);
    record({ target: orgId, before, after: lists });
    return lists;
  },
});

function readNetworks(field: string, networks: readonly string[] | null): string[] | null {
  if (networks === null) return null;
  const faults: Fault[] = [];
  const parsed = networks.map((text, index) => {
    const network = parseNetwork(text);
    if (network === null) {
      faults.push({ path: `${field}[${index}]`, message: 'is neither an address nor a network such as 192.0.2.0/24' });
    }
    return network ?? text;
  });
  if (faults.length > 0) throw invalidInput(faults);
  return [...new Set(parsed)];
}

/** Operations by which people sign in through the provider of an organization. */
export const PROVIDER_SIGN_IN = [beginProviderSignIn, completeProviderSignIn] as const;

/** Operations of the console on how people sign in to an organization. */
export const SIGN_IN_OPERATIONS = [
  getSignInSettings,
  setOpenidConnection,
  removeOpenidConnection,
  addSignInDomain,
  proveSignInDomain,
  removeSignInDomain,
  setAddressLists,
  listOrganizationSessions,
  endMemberSessions,
] as const;
