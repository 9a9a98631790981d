import { readPatch } from '#modules/provisioning/decide/patch_operations.ts';
import { attributeOf, isObject, readText, ScimError } from './scim_values.ts';
import { namedValues } from '#modules/provisioning/decide/scim_filter.ts';

export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';

const NAME_LENGTH_MAX = 500;
const EXTERNAL_ID_LENGTH_MAX = 255;

/** A group as a POST or PUT says it. */
export interface GroupBody {
  readonly displayName: string;
  readonly externalId: string | null;
  /** Ids of its users. */
  readonly members: readonly string[];
}

/** Changes of a group; an absent one leaves things as they are. */
export interface GroupPatch {
  readonly displayName?: string;
  readonly externalId?: string | null;
  /** Members instead of all before; null to keep them, but for those below. */
  readonly replaced: ReadonlySet<string> | null;
  readonly added: ReadonlySet<string>;
  readonly removed: ReadonlySet<string>;
}

/** Reads the body of a POST or PUT. Throws `invalidSyntax`, `invalidValue`. */
export function readGroup(body: unknown): GroupBody {
  if (!isObject(body)) throw new ScimError('invalidSyntax', 'the body must be a group as a JSON object');
  return {
    displayName: requireName(attributeOf(body, 'displayName')),
    externalId: readText(attributeOf(body, 'externalId'), 'externalId', EXTERNAL_ID_LENGTH_MAX),
    members: [...new Set(readMembers(attributeOf(body, 'members')))],
  };
}

/** Reads a PATCH as the changes it makes, whatever members the group has. */
export function readGroupPatch(body: unknown): GroupPatch {
  let replaced: Set<string> | null = null;
  const added = new Set<string>();
  const removed = new Set<string>();
  const texts: { displayName?: string; externalId?: string | null } = {};
  const add = (id: string): void => void (replaced?.add(id) ?? (removed.delete(id), added.add(id)));
  const remove = (id: string): void => void (replaced?.delete(id) ?? (added.delete(id), removed.add(id)));
  for (const { op, path, value } of readPatch(body)) {
    const isRemoved = op === 'remove';
    if (path.attribute === 'displayname') {
      texts.displayName = requireName(isRemoved ? null : value);
    } else if (path.attribute === 'externalid') {
      texts.externalId = isRemoved ? null : readText(value, 'externalId', EXTERNAL_ID_LENGTH_MAX);
    } else if (path.attribute === 'members') {
      const named = path.filter === null ? readMembers(value) : namedValues(path.filter);
      const isWhole = path.filter === null && (op === 'replace' || (isRemoved && isAbsent(value)));
      if (isWhole) replaced = new Set(isRemoved ? [] : named);
      else for (const id of named) (isRemoved ? remove : add)(id);
    }
  }
  return { ...texts, replaced, added, removed };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function requireName(value: unknown): string {
  const name = readText(value, 'displayName', NAME_LENGTH_MAX);
  if (name === null) throw new ScimError('invalidValue', 'displayName is required');
  return name;
}

function readMembers(value: unknown): string[] {
  if (isAbsent(value)) return [];
  return (Array.isArray(value) ? value : [value]).map((member: unknown) => {
    const id = isObject(member) ? attributeOf(member, 'value') : member;
    const userId = typeof id === 'string' ? readText(id, 'the value of a member', EXTERNAL_ID_LENGTH_MAX) : null;
    if (userId !== null) return userId;
    throw new ScimError('invalidValue', 'each of the members must have the id of a user as its value');
  });
}
