import { ScimError } from './scim_values.ts';

/** Attributes to return, or not to (RFC 7644, section 3.9); names in lower case. */
export interface Projection {
  readonly only: readonly string[] | null;
  readonly without: readonly string[];
}

const NAMES_MAX = 50;
/** Attributes that are always returned. */
const ALWAYS = new Set(['schemas', 'id', 'meta']);

/** Reads `attributes` and `excludedAttributes`. Throws `invalidValue` if both are given. */
export function readProjection(attributes: unknown, excluded: unknown): Projection {
  const only = readNames(attributes);
  const without = readNames(excluded);
  if (only.length > 0 && without.length > 0) {
    throw new ScimError('invalidValue', 'send attributes or excludedAttributes, not both');
  }
  return { only: only.length === 0 ? null : only, without };
}

/** Whether the attribute is returned, at least in part. */
export function isReturned(attribute: string, { only, without }: Projection): boolean {
  const name = attribute.toLowerCase();
  if (ALWAYS.has(name)) return true;
  if (only === null) return !without.includes(name);
  return only.some((wanted) => wanted === name || wanted.startsWith(`${name}.`));
}

/** Returns the resource with no more than the attributes that are asked for. */
export function project(resource: object, projection: Projection): object {
  if (projection.only === null && projection.without.length === 0) return resource;
  return Object.fromEntries(
    Object.entries(resource)
      .filter(([name]) => isReturned(name, projection))
      .map(([name, value]: [string, unknown]) => [name, projectParts(name.toLowerCase(), value, projection)]),
  );
}

function projectParts(name: string, value: unknown, { only, without }: Projection): unknown {
  if (ALWAYS.has(name) || typeof value !== 'object' || value === null) return value;
  const isKept = (part: string): boolean => {
    const path = `${name}.${part.toLowerCase()}`;
    return only === null ? !without.includes(path) : only.includes(name) || only.includes(path);
  };
  const keep = (of: object) => Object.fromEntries(Object.entries(of).filter(([part]) => isKept(part)));
  return Array.isArray(value) ? value.map((entry: object) => keep(entry)) : keep(value);
}

function readNames(value: unknown): string[] {
  const text = Array.isArray(value) ? value.join(',') : value;
  if (typeof text !== 'string') return [];
  const names = text.split(',').map((name) =>
    name
      .trim()
      .toLowerCase()
      .replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/, ''),
  );
  return names.filter((name) => name !== '').slice(0, NAMES_MAX);
}
