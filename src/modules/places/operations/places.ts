import { type Static, Type } from 'typebox';

import { type ActionContext, changesSince, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { externalAddressFault } from '#auth/external_fetch.ts';
import { newSigningSecret } from '#auth/secret_text.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import type { Role } from '#kernel/permissions.ts';
import { keysOf } from '#kernel/records.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import {
  PLACE_KINDS,
  placeDeclarationOf,
  type PlaceField,
  type PlaceFieldName,
  type PlaceKind,
  PLACES_MAX,
  type PlaceSettings,
} from '#modules/places/decide/place_kinds.ts';
import { CHAT_PLACES } from '#modules/places/decide/chat_places.ts';
import { PLACE_ROUTES_MAX, type PlaceRoute } from '#modules/places/decide/place_route.ts';
import { LINK_CODE_MINUTES, linkCodeHash, newLinkCode } from '#modules/places/link_chat_account.ts';
import { auditedPlace, PlaceView, sealSettings, shownSettings, toPlaceView } from '#modules/places/view.ts';
import { listPlaceDeliveries, redeliverToPlace, testPlace } from './deliveries.ts';

export const beginChatLink = defineOperation({
  name: 'begin_chat_link',
  summary: 'Make a code that links your chat account to you: type it in the chat within ten minutes.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject({ kind: Type.Enum([...CHAT_PLACES]) }),
  result: Type.Object({
    code: Type.String({ description: 'shown this once' }),
    command: Type.String({ description: 'what is typed in the chat' }),
    expiresAt: Timestamp,
  }),
  example: { kind: 'slack' },
  async handle({ kind }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    const code = newLinkCode();
    const codeExpiresAt = now.add({ minutes: LINK_CODE_MINUTES });
    const made = { orgId: caller.orgId, userId, kind, codeHash: linkCodeHash(code), codeExpiresAt };
    await stores.chatAccounts.insertCode(made, now);
    record({ target: userId, before: null, after: { chatLinkCode: kind } });
    return { code, command: `/oncall link ${code}`, expiresAt: toTimestamp(codeExpiresAt) };
  },
});

export const listChatAccounts = defineOperation({
  name: 'list_chat_accounts',
  summary: 'List your chat accounts whose buttons act for you.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Object({
    accounts: Type.Array(
      Type.Object({
        chatAccountId: IdText,
        kind: Type.Enum([...CHAT_PLACES]),
        title: Type.String(),
        name: Type.String({ description: 'name of the account when it was linked' }),
        linkedAt: Timestamp,
      }),
    ),
  }),
  async handle(_input, { caller, stores }) {
    const accounts = await stores.chatAccounts.list(caller.orgId, callerUser(caller));
    return {
      accounts: accounts.map(({ id, kind, name, linkedAt, createdAt }) => ({
        chatAccountId: id,
        kind,
        title: placeDeclarationOf(kind).title,
        name: name ?? '',
        linkedAt: toTimestamp(linkedAt ?? createdAt),
      })),
    };
  },
});

export const unlinkChatAccount = defineOperation({
  name: 'unlink_chat_account',
  summary: 'Unlink one of your chat accounts: its buttons act for you no more.',
  permission: 'organization:view',
  effect: 'delete',
  input: StrictObject({ chatAccountId: IdText }),
  result: Type.Object({ chatAccountId: IdText, unlinked: Type.Boolean() }),
  async handle({ chatAccountId }, { caller, stores, record }) {
    const userId = callerUser(caller);
    const { kind, account, name } = await stores.chatAccounts.remove(caller.orgId, userId, chatAccountId);
    record({ target: userId, before: { chatAccount: { kind, account, name } }, after: null });
    return { chatAccountId, unlinked: true };
  },
});

const Value = Type.String({ maxLength: 2_000 });

const PlaceName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });

const Settings = StrictObject(
  {
    address: Type.Optional(Value),
    token: Type.Optional(Value),
    signingSecret: Type.Optional(Value),
    channel: Type.Optional(Value),
    publicKey: Type.Optional(Value),
  },
  { description: 'what this kind of place asks for; secrets are stored encrypted and never shown' },
);

const Routes = Type.Array(
  StrictObject({ serviceId: nullable(IdText), teamId: nullable(IdText), atLeast: nullable(Type.Enum([...LEVELS])) }),
  {
    minItems: 1,
    maxItems: PLACE_ROUTES_MAX,
    description: 'the place is told of incidents that any of them takes; one of nulls takes all',
  },
);

/** Settings as they are stored, and the signing secret when it was made here. */
interface ReadSettings {
  readonly settings: PlaceSettings;
  readonly madeSecret: string | null;
}

/** Checks the settings of a place. Throws `invalid_input` with each fault. */
async function readSettings(
  kind: PlaceKind,
  values: Static<typeof Settings>,
  { installation }: Pick<ActionContext, 'installation'>,
): Promise<ReadSettings> {
  const { fields } = placeDeclarationOf(kind);
  const settings: Partial<Record<PlaceFieldName, string>> = {};
  const faults: Fault[] = keysOf(values)
    .filter((name) => fields[name] === undefined)
    .map((name) => ({ path: `settings.${name}`, message: `leave it out: a place of this kind has none` }));
  for (const name of keysOf(fields)) {
    const field = fields[name];
    const value = (values[name] ?? '').trim();
    if (field === undefined) continue;
    const message = value === '' ? missing(field) : await faultOf(kind, name, field, value, installation);
    if (message !== null) faults.push({ path: `settings.${name}`, message });
    else if (value !== '') settings[name] = value;
  }
  if (faults.length > 0) throw invalidInput(faults);
  const makesSecret = kind === 'webhook' && settings.signingSecret === undefined;
  const madeSecret = makesSecret ? newSigningSecret() : null;
  return { settings: madeSecret === null ? settings : { ...settings, signingSecret: madeSecret }, madeSecret };
}

function missing({ isRequired, label, help }: PlaceField): string | null {
  return isRequired ? `is required: ${label.toLowerCase()} (${help})` : null;
}

const VISIBLE_ASCII = /^[\x21-\x7e]*$/;

async function faultOf(
  kind: PlaceKind,
  name: PlaceFieldName,
  { check }: PlaceField,
  value: string,
  installation: ActionContext['installation'],
): Promise<string | null> {
  if (!VISIBLE_ASCII.test(value)) return 'must be of visible ASCII characters without spaces';
  if (kind === 'webhook' && name === 'signingSecret' && !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(value)) {
    return 'must be whsec_ and 24 to 64 bytes in Base64';
  }
  if (check !== 'address') return null;
  return await externalAddressFault(value, installation);
}

/** Checks that services and teams of the routes belong to the organization. Throws `not_found`. */
async function requireRoutes(
  routes: readonly PlaceRoute[],
  { stores, caller }: Pick<ActionContext, 'stores' | 'caller'>,
): Promise<void> {
  for (const [index, { serviceId, teamId }] of routes.entries()) {
    if (serviceId !== null) await stores.services.get(caller.orgId, serviceId, `routes[${index}].serviceId`);
    if (teamId !== null) await stores.teams.get(caller.orgId, teamId, `routes[${index}].teamId`);
  }
}

/** Throws `conflict` when another place of the organization has the name. */
async function requireFreeName(
  name: string,
  placeId: string | null,
  { stores, caller }: Pick<ActionContext, 'stores' | 'caller'>,
): Promise<void> {
  const other = await stores.places.findNamed(caller.orgId, name);
  if (other !== null && other.id !== placeId) throw new AppError('conflict', 'another place has this name');
}

/** Returns the role of whoever enters settings, as somebody who knows the secrets of the place from then on. */
async function roleOf({ caller, stores }: Pick<ActionContext, 'caller' | 'stores'>): Promise<Role | null> {
  const { actor, orgId } = caller;
  if (actor.kind === 'system') return 'owner';
  return actor.kind === 'user' ? await stores.people.findRole(orgId, actor.userId) : null;
}

export const createPlace = defineOperation({
  name: 'create_place',
  stepUp: true,
  summary: 'Add a place where incidents are announced, beside the people who are paged: a chat room or a webhook.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ kind: Type.Enum([...PLACE_KINDS]), name: PlaceName, settings: Settings, routes: Routes }),
  result: Type.Object({
    place: PlaceView,
    signingSecret: nullable(
      Type.String({ description: 'signing secret that was made for it, shown this once; null when none was made' }),
    ),
  }),
  conflict: 'another place has this name, or the organization has as many places as it may have',
  example: {
    kind: 'slack',
    name: 'Operations',
    settings: { channel: 'C0123456789', token: 'xoxb-token', signingSecret: 'secret' },
    routes: [{ serviceId: IDS.serviceId, teamId: null, atLeast: 'error' }],
  },
  async prepare({ kind, settings }, context) {
    return await readSettings(kind, settings, context);
  },
  async handle({ kind, name, routes }, context, { settings, madeSecret }) {
    const { caller, stores, now, record, installation, baseUrl } = context;
    const { places } = installation.ciphers;
    await requireRoutes(routes, context);
    await requireFreeName(name, null, context);
    if ((await stores.places.list(caller.orgId)).length >= PLACES_MAX) {
      throw new AppError('conflict', `an organization has at most ${PLACES_MAX} places; delete one first`);
    }
    const place = await stores.places.insert(
      {
        orgId: caller.orgId,
        kind,
        name: name.trim(),
        shown: shownSettings(kind, settings),
        sealed: sealSettings(places, settings),
        settingsRole: await roleOf(context),
        routes,
      },
      now,
    );
    record({ target: place.id, before: null, after: auditedPlace(place) });
    return { place: toPlaceView(place, 0, baseUrl), signingSecret: madeSecret };
  },
});

const HEALTHY = { failures: 0, failingSince: null, lastFailure: null, heldUntil: null };

export const updatePlace = defineOperation({
  name: 'update_place',
  stepUp: true,
  summary:
    'Change a place, or switch it on or off, unless somebody else has changed the same since it was read. What is left out stays as it is; settings are given whole, with their secrets.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    placeId: IdText,
    name: Type.Optional(PlaceName),
    settings: Type.Optional(Settings),
    routes: Type.Optional(Routes),
    isOn: Type.Optional(Type.Boolean()),
    basedOn: Type.Optional(StrictObject({ name: PlaceName, routes: Routes }, { description: 'what was read' })),
  }),
  result: Type.Object({
    place: PlaceView,
    signingSecret: nullable(
      Type.String({ description: 'signing secret that was made for it, shown this once; null when none was made' }),
    ),
  }),
  conflict: 'another place has this name, or somebody has changed the same since it was read',
  example: {
    name: 'Operations at night',
    settings: { channel: 'C0123456789', token: 'xoxb-token', signingSecret: 'secret' },
    routes: [{ serviceId: null, teamId: IDS.teamId, atLeast: null }],
    isOn: true,
    basedOn: { name: 'Operations', routes: [{ serviceId: null, teamId: IDS.teamId, atLeast: null }] },
  },
  async prepare({ placeId, settings }, context) {
    if (settings === undefined) return null;
    const { kind } = await context.stores.places.get(context.caller.orgId, placeId);
    return await readSettings(kind, settings, context);
  },
  async handle({ placeId, basedOn, isOn, ...wanted }, context, read) {
    const { caller, stores, now, record, installation, baseUrl } = context;
    const before = await stores.places.lock(caller.orgId, placeId);
    if (wanted.routes !== undefined) await requireRoutes(wanted.routes, context);
    const { name, routes } = changesSince(
      basedOn,
      { name: before.name, routes: [...before.routes] },
      wanted,
      'this place',
    );
    if (name !== undefined) await requireFreeName(name, before.id, context);
    const { places } = installation.ciphers;
    const sealed = read && {
      shown: shownSettings(before.kind, read.settings),
      sealed: sealSettings(places, read.settings),
      settingsRole: await roleOf(context),
    };
    await stores.places.save(
      before.id,
      {
        ...(name !== undefined && { name: name.trim() }),
        ...(routes !== undefined && { routes }),
        ...sealed,
        ...(isOn !== undefined && isOn !== before.isOn && { isOn }),
        // What was wrong may be right now.
        ...((sealed !== null || isOn === true) && HEALTHY),
      },
      now,
    );
    if (isOn === false) await stores.placeDeliveries.end(before.id, 'The place was switched off.', now);
    const after = await stores.places.get(caller.orgId, before.id);
    const replaced = read !== null && { settings: 'replaced' };
    record({ target: before.id, before: auditedPlace(before), after: { ...auditedPlace(after), ...replaced } });
    const waiting = (await stores.placeDeliveries.countWaiting(caller.orgId)).get(before.id) ?? 0;
    return { place: toPlaceView(after, waiting, baseUrl), signingSecret: read?.madeSecret ?? null };
  },
});

export const deletePlace = defineOperation({
  name: 'delete_place',
  stepUp: true,
  summary: 'Delete a place with its deliveries. Messages that were sent stay where they are.',
  permission: 'organization:manage',
  effect: 'delete',
  input: StrictObject({ placeId: IdText }),
  result: Type.Object({ placeId: IdText, deleted: Type.Boolean() }),
  async handle({ placeId }, { caller, stores, record }) {
    const place = await stores.places.lock(caller.orgId, placeId);
    await stores.places.delete(place.id);
    record({ target: place.id, before: auditedPlace(place), after: null });
    return { placeId: place.id, deleted: true };
  },
});

export const listPlaces = defineOperation({
  name: 'list_places',
  summary: 'List the places where incidents are announced, and how each fares.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Object({ places: Type.Array(PlaceView) }),
  async handle(_input, { caller, stores, baseUrl }) {
    const places = await stores.places.list(caller.orgId);
    const waiting = await stores.placeDeliveries.countWaiting(caller.orgId);
    return { places: places.map((place) => toPlaceView(place, waiting.get(place.id) ?? 0, baseUrl)) };
  },
});

/** Operations of the console on places and linked chat accounts. */
export const PLACE_OPERATIONS = [
  listPlaces,
  createPlace,
  updatePlace,
  deletePlace,
  testPlace,
  listPlaceDeliveries,
  redeliverToPlace,
  beginChatLink,
  listChatAccounts,
  unlinkChatAccount,
] as const;
