import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, STRICT } from '#actions/fields.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import { keysOf } from '#kernel/records.ts';
import type { Role } from '#kernel/permissions.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import {
  type PlaceField,
  type PlaceFieldName,
  type PlaceKind,
  type PlaceSettings,
  placeDeclarationOf,
} from '#modules/places/decide/place_kinds.ts';
import { newSigningSecret } from '#auth/signing_secrets.ts';

import { PLACE_ROUTES_MAX, type PlaceRoute } from '#modules/places/decide/place_route.ts';

const Value = Type.String({ maxLength: 2_000 });

export const PlaceName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });

export const Settings = Type.Object(
  {
    address: Type.Optional(Value),
    token: Type.Optional(Value),
    signingSecret: Type.Optional(Value),
    channel: Type.Optional(Value),
    publicKey: Type.Optional(Value),
  },
  { ...STRICT, description: 'what this kind of place asks for; secrets are stored encrypted and never shown' },
);

export const Routes = Type.Array(
  Type.Object(
    { serviceId: nullable(IdText), teamId: nullable(IdText), atLeast: nullable(Type.Enum([...LEVELS])) },
    STRICT,
  ),
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
export async function readSettings(
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

async function faultOf(
  kind: PlaceKind,
  name: PlaceFieldName,
  { check }: PlaceField,
  value: string,
  installation: ActionContext['installation'],
): Promise<string | null> {
  if (/[^\x21-\x7e]/.test(value)) return 'must be of visible ASCII characters without spaces';
  if (kind === 'webhook' && name === 'signingSecret' && !/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/.test(value)) {
    return 'must be whsec_ and 24 to 64 bytes in Base64';
  }
  if (check !== 'address') return null;
  if (!URL.canParse(value)) return 'must be a whole address, as https://example.com/path';
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return 'must not have a user name or password in it';
  if (protocol !== 'https:' && !(protocol === 'http:' && installation.allowsInternalAddresses)) {
    return 'must begin with https://';
  }
  return (await installation.isPrivateHost(hostname)) ? 'must be on the public Internet' : null;
}

/** Checks that services and teams of the routes belong to the organization. Throws `not_found`. */
export async function requireRoutes(
  routes: readonly PlaceRoute[],
  { stores, caller }: Pick<ActionContext, 'stores' | 'caller'>,
): Promise<void> {
  for (const [index, { serviceId, teamId }] of routes.entries()) {
    if (serviceId !== null) await stores.services.get(caller.orgId, serviceId, `routes[${index}].serviceId`);
    if (teamId !== null) await stores.teams.get(caller.orgId, teamId, `routes[${index}].teamId`);
  }
}

/** Throws `conflict` when another place of the organization has the name. */
export async function requireFreeName(
  name: string,
  placeId: string | null,
  { stores, caller }: Pick<ActionContext, 'stores' | 'caller'>,
): Promise<void> {
  const other = await stores.places.findNamed(caller.orgId, name);
  if (other !== null && other.id !== placeId) throw new AppError('conflict', 'another place has this name');
}

/** Returns the role of whoever enters settings, as somebody who knows the secrets of the place from then on. */
export async function roleOf({ caller, stores }: Pick<ActionContext, 'caller' | 'stores'>): Promise<Role | null> {
  const { actor, orgId } = caller;
  if (actor.kind === 'system') return 'owner';
  return actor.kind === 'user' ? await stores.people.findRole(orgId, actor.userId) : null;
}
