import { Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { nullable, StrictObject } from '#actions/fields.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import { isWithin, parseNetwork } from '#modules/sign_in/decide/networks.ts';
import { addSignInDomain, proveSignInDomain, removeSignInDomain } from '#modules/sign_in/operations/domains.ts';
import { endMemberSessions, listOrganizationSessions } from '#modules/sign_in/operations/member_sessions.ts';
import { removeOpenidConnection, setOpenidConnection } from '#modules/sign_in/operations/openid_connection.ts';
import { beginProviderSignIn, completeProviderSignIn } from '#modules/sign_in/operations/provider_sign_in.ts';
import { requireOwner } from '#modules/sign_in/require_owner.ts';
import { readSignInSettings, SignInSettingsView } from '#modules/sign_in/sign_in_view.ts';

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
