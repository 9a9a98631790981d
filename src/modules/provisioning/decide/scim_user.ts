import { type PatchOperation, readPatch } from '#modules/provisioning/decide/patch_operations.ts';
import { attributeOf, type Body, isObject, readBoolean, readText, ScimError } from './scim_values.ts';
import { attributeName, type Filter } from '#modules/provisioning/decide/scim_filter.ts';

/** Names of a person as the identity provider has them. */
export interface Profile {
  readonly displayName: string | null;
  readonly formatted: string | null;
  readonly givenName: string | null;
  readonly familyName: string | null;
}

/** Attributes of a user that are stored; others are read over. */
export interface UserState {
  readonly userName: string;
  readonly externalId: string | null;
  readonly isActive: boolean;
  /** Null where none is said. */
  readonly email: string | null;
  readonly profile: Profile;
}

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';

const NAME_LENGTH_MAX = 200;
const ADDRESS_LENGTH_MAX = 320;
const EXTERNAL_ID_LENGTH_MAX = 255;
const ADDRESS = /^[^\s@]+@[^\s@]+$/;
const NO_NAMES: Profile = { displayName: null, formatted: null, givenName: null, familyName: null };
const NAME_PARTS = { formatted: 'formatted', givenname: 'givenName', familyname: 'familyName' } as const;

/** Reads the body of a POST or PUT; without `active`, a user is. Throws `invalidSyntax`, `invalidValue`. */
export function readUser(body: unknown): UserState & { readonly saysActive: boolean } {
  if (!isObject(body)) throw new ScimError('invalidSyntax', 'the body must be a user as a JSON object');
  const userName = requireUserName(attributeOf(body, 'userName'));
  const active = attributeOf(body, 'active');
  const name = attributeOf(body, 'name');
  return {
    userName,
    externalId: readText(attributeOf(body, 'externalId'), 'externalId', EXTERNAL_ID_LENGTH_MAX),
    isActive: active === undefined || active === null ? true : readBoolean(active, 'active'),
    saysActive: active !== undefined && active !== null,
    email: readEmails(attributeOf(body, 'emails')),
    profile: {
      ...NO_NAMES,
      ...(isObject(name) && readNameParts(name)),
      displayName: readName(attributeOf(body, 'displayName'), 'displayName'),
    },
  };
}

/** Applies a PATCH. Attributes that are not kept are read over. */
export function patchUser(state: UserState, body: unknown): UserState {
  return readPatch(body).reduce(applyOperation, state);
}

/** Returns the address of a user: the one that is said, or else the user name if it is one. Throws `invalidValue`. */
export function addressOf({ email, userName }: Pick<UserState, 'email' | 'userName'>): string {
  const address = email ?? userName;
  if (ADDRESS.test(address)) return address;
  throw new ScimError('invalidValue', 'the user needs a mail address: send emails, or a userName that is an address');
}

/** Returns the name of a person for the console and for messages. */
export function nameOf({ profile, userName }: Pick<UserState, 'profile' | 'userName'>): string {
  const { displayName, formatted, givenName, familyName } = profile;
  const parts = [givenName, familyName].filter((part) => part !== null).join(' ');
  const name = displayName ?? formatted ?? (parts === '' ? userName : parts);
  return name.slice(0, NAME_LENGTH_MAX).toWellFormed();
}

function applyOperation(state: UserState, { op, path, value }: PatchOperation): UserState {
  const isRemoved = op === 'remove' || value === null;
  switch (path.attribute) {
    case 'username':
      return { ...state, userName: requireUserName(isRemoved ? null : value) };
    case 'externalid': {
      const externalId = isRemoved ? null : readText(value, 'externalId', EXTERNAL_ID_LENGTH_MAX);
      return { ...state, externalId };
    }
    case 'active':
      return { ...state, isActive: isRemoved ? true : readBoolean(value, 'active') };
    case 'displayname': {
      const displayName = isRemoved ? null : readName(value, 'displayName');
      return { ...state, profile: { ...state.profile, displayName } };
    }
    case 'name':
      return { ...state, profile: patchName(state.profile, path.part, isRemoved ? null : value) };
    case 'emails':
      return patchEmails(state, path, isRemoved ? null : value);
    default:
      return state;
  }
}

function patchName(profile: Profile, part: string | null, value: unknown): Profile {
  if (part === null) {
    if (value === null) return { ...NO_NAMES, displayName: profile.displayName };
    if (!isObject(value)) throw new ScimError('invalidValue', 'name must be an object');
    return { ...profile, ...readNameParts(value) };
  }
  if (!Object.hasOwn(NAME_PARTS, part)) return profile;
  const property = NAME_PARTS[part as keyof typeof NAME_PARTS];
  return { ...profile, [property]: readName(value, `name.${property}`) };
}

function patchEmails(state: UserState, { filter, part }: PatchOperation['path'], value: unknown): UserState {
  if (part !== null && part !== 'value') return state;
  if (filter !== null && !isOfWorkAddress(filter, state.email)) return state;
  if (value === null) {
    throw new ScimError('mutability', 'a user always has a mail address; send another one in its place');
  }
  const email = part === null ? readEmails(Array.isArray(value) ? value : [value]) : readAddress(value);
  return email === null ? state : { ...state, email };
}

/** Whether the filter selects the one address of a user, which is of type work and primary. */
function isOfWorkAddress(filter: Filter, email: string | null): boolean {
  if (filter.op === 'and') return filter.filters.every((inner) => isOfWorkAddress(inner, email));
  if (filter.op === 'or') return filter.filters.some((inner) => isOfWorkAddress(inner, email));
  if (filter.op !== 'eq') return false;
  const value = String(filter.compValue).toLowerCase();
  switch (attributeName(filter.attrPath)) {
    case 'type':
      return value === 'work';
    case 'primary':
      return value === 'true';
    case 'value':
      return value === email?.toLowerCase();
    default:
      return false;
  }
}

/** Returns the primary address, or that of type work, or the first; null for none. */
function readEmails(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) throw new ScimError('invalidValue', 'emails must be an array');
  const entries = value
    .map((entry: unknown) => (typeof entry === 'string' ? { value: entry } : entry))
    .filter(isObject);
  const isPrimary = (entry: Body) => String(attributeOf(entry, 'primary')).toLowerCase() === 'true';
  const isWork = (entry: Body) => String(attributeOf(entry, 'type')).toLowerCase() === 'work';
  const chosen = entries.find(isPrimary) ?? entries.find(isWork) ?? entries[0];
  const address = chosen === undefined ? undefined : attributeOf(chosen, 'value');
  return address === undefined || address === null || address === '' ? null : readAddress(address);
}

function readAddress(value: unknown): string {
  const address = readText(value, 'the mail address', ADDRESS_LENGTH_MAX);
  if (address === null || !ADDRESS.test(address)) {
    throw new ScimError('invalidValue', 'emails must have mail addresses as their values');
  }
  return address;
}

function requireUserName(value: unknown): string {
  const userName = readText(value, 'userName', ADDRESS_LENGTH_MAX);
  if (userName === null) throw new ScimError('invalidValue', 'userName is required');
  return userName;
}

function readNameParts(name: Body): Partial<Profile> {
  const parts: Record<string, string | null> = {};
  for (const property of Object.values(NAME_PARTS)) {
    const value = attributeOf(name, property);
    if (value !== undefined) parts[property] = readName(value, `name.${property}`);
  }
  return parts;
}

function readName(value: unknown, name: string): string | null {
  return readText(value, name, NAME_LENGTH_MAX);
}
