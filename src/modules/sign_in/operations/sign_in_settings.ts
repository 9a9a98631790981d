import { Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { nullable } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
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
import { endMemberSessions, listOrganizationSessions } from './member_sessions.ts';
import { beginProviderSignIn, completeProviderSignIn } from './provider_sign_in.ts';

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
