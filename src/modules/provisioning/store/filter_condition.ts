import { type AliasedSelectQueryBuilder, type Expression, expressionBuilder, type RawBuilder, sql } from 'kysely';

import { ScimError } from '#modules/provisioning/decide/scim_values.ts';
import { attributeName, type Filter } from '#modules/provisioning/decide/scim_filter.ts';
import type { Id } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { Tables } from '#storage/postgres/tables.ts';

export interface Compared {
  readonly type: 'text' | 'exact' | 'boolean' | 'instant';
  readonly value: Expression<unknown>;
}

/** Attributes of a resource by their names in lower case. */
export type ComparedAttributes = Readonly<Record<string, Compared>>;

/** Order of a list (RFC 7644, section 3.4.2.3). */
export interface Sorting {
  readonly by: string;
  readonly isDescending: boolean;
}

/** A part of a list: how it is sorted, how many come before it, and how many it has at most. */
export interface Page {
  readonly sorting: Sorting | null;
  readonly offset: number;
  readonly limit: number;
}

type Condition = RawBuilder<boolean>;

const JOINED_BY = { and: sql` and `, or: sql` or ` } as const;

/** Builds the condition of a filter. Throws `invalidFilter` for attributes and comparisons that are not offered. */
export function conditionOf(filter: Filter, attributes: ComparedAttributes, prefix = ''): Condition {
  switch (filter.op) {
    case 'and':
    case 'or': {
      const conditions = filter.filters.map((inner) => conditionOf(inner, attributes, prefix));
      const joined = sql.join(conditions, JOINED_BY[filter.op]);
      return sql<boolean>`(${joined})`;
    }
    case 'not':
      return sql<boolean>`not coalesce(${conditionOf(filter.filter, attributes, prefix)}, false)`;
    case '[]':
      return conditionOf(filter.valFilter, attributes, `${attributeName(filter.attrPath)}.`);
    case 'pr':
      return sql<boolean>`${compared(filter.attrPath, attributes, prefix).value} is not null`;
    default:
      return comparison(filter.op, compared(filter.attrPath, attributes, prefix), filter.compValue);
  }
}

/**
 * Builds the order of a list; resources without the attribute come last, first when it descends. Throws `invalidValue` for an
 * attribute that is not offered.
 */
export function orderOf({ by, isDescending }: Sorting, attributes: ComparedAttributes): RawBuilder<unknown> {
  const name = attributeName(by);
  const attribute = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
  if (attribute === undefined) {
    throw new ScimError('invalidValue', `"${by}" cannot be sorted by; use ${Object.keys(attributes).join(', ')}`);
  }
  const value = attribute.type === 'text' ? sql`lower(${attribute.value})` : attribute.value;
  return isDescending ? sql`${value} desc nulls first` : sql`${value} asc nulls last`;
}

function compared(path: string, attributes: ComparedAttributes, prefix: string): Compared {
  const name = `${prefix}${attributeName(path)}`;
  if (Object.hasOwn(attributes, name) && attributes[name] !== undefined) return attributes[name];
  throw new ScimError('invalidFilter', `"${name}" cannot be filtered by; use ${Object.keys(attributes).join(', ')}`);
}

type Comparison = 'eq' | 'ne' | 'co' | 'sw' | 'ew' | 'gt' | 'lt' | 'ge' | 'le';

type Operand = string | number | boolean | null;

const ORDERED = { gt: sql`>`, lt: sql`<`, ge: sql`>=`, le: sql`<=` } as const;

function comparison(op: Comparison, { type, value }: Compared, operand: Operand): Condition {
  if (operand === null) {
    if (op === 'eq') return sql<boolean>`${value} is null`;
    if (op === 'ne') return sql<boolean>`${value} is not null`;
    throw new ScimError('invalidFilter', `${op} does not compare with null`);
  }
  if (type === 'boolean') return ofBoolean(op, value, operand);
  if (type === 'instant') return ofInstant(op, value, operand);
  const text = String(operand);
  const [left, right] = type === 'exact' ? [value, sql`${text}`] : [sql`lower(${value})`, sql`lower(${text})`];
  switch (op) {
    case 'eq':
      return sql<boolean>`${left} = ${right}`;
    case 'ne':
      return sql<boolean>`${left} is distinct from ${right}`;
    case 'co':
      return sql<boolean>`strpos(${left}, ${right}) > 0`;
    case 'sw':
      return sql<boolean>`starts_with(${left}, ${right})`;
    case 'ew':
      return sql<boolean>`right(${left}, length(${right})) = ${right}`;
    case 'gt':
    case 'lt':
    case 'ge':
    case 'le':
      return sql<boolean>`${left} ${ORDERED[op]} ${right}`;
  }
}

function ofBoolean(op: Comparison, value: Expression<unknown>, operand: Operand): Condition {
  const text = String(operand).toLowerCase();
  if ((op !== 'eq' && op !== 'ne') || (text !== 'true' && text !== 'false')) {
    throw new ScimError('invalidFilter', 'active is compared by eq or ne with true or false');
  }
  const isWanted = (text === 'true') === (op === 'eq');
  return isWanted ? sql<boolean>`${value}` : sql<boolean>`not ${value}`;
}

function ofInstant(op: Comparison, value: Expression<unknown>, operand: Operand): Condition {
  const at = parseInstant(operand);
  switch (op) {
    case 'gt':
    case 'lt':
    case 'ge':
    case 'le':
      return sql<boolean>`${value} ${ORDERED[op]} ${at}::timestamptz`;
    case 'eq':
      return sql<boolean>`${value} = ${at}::timestamptz`;
    case 'ne':
    case 'co':
    case 'sw':
    case 'ew':
      throw new ScimError('invalidFilter', `${op} does not compare times`);
  }
}

function parseInstant(operand: Operand): Temporal.Instant {
  try {
    return Temporal.Instant.from(String(operand));
  } catch {
    throw new ScimError('invalidFilter', 'a time must be operand as RFC 3339, such as "2026-03-01T09:00:00Z"');
  }
}

/**
 * Builds the query for the ids of an organization's people. An identity provider asks for a user name or an id of its
 * own before each change: these are found by their indices.
 */
export function idsOf(
  orgId: Id<'org'>,
  { userName, externalId }: { readonly userName: string | null; readonly externalId: string | null },
): UserIds {
  const { selectFrom } = expressionBuilder<Tables>();
  const members = selectFrom('memberships as m').select('m.user_id as userId').where('m.org_id', '=', orgId);
  const named = selectFrom('scim_users as s').select('s.user_id as userId').where('s.org_id', '=', orgId);
  if (externalId !== null) return named.where('s.external_id', '=', externalId);
  if (userName === null) return members.union(named);
  return members
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .where(({ eb, fn, val }) => eb(fn('lower', ['u.email']), '=', fn('lower', [val(userName)])))
    .union(named.where(({ eb, fn, val }) => eb(fn('lower', ['s.user_name']), '=', fn('lower', [val(userName)]))));
}

export interface UserIds {
  as(alias: 'p'): AliasedSelectQueryBuilder<{ userId: Id<'user'> }, 'p'>;
}

const text = (value: Compared['value']): Compared => ({ type: 'text', value });
const profile = (name: string): Compared => text(sql`${sql.ref('s.profile')}->>${sql.lit(name)}`);

/** Attributes of a user by which lists are filtered. Everybody has one address, which is primary and of type work. */
export const USER_ATTRIBUTES = {
  id: { type: 'exact', value: sql.ref('u.id') },
  username: text(sql`coalesce(${sql.ref('s.user_name')}, ${sql.ref('u.email')})`),
  externalid: { type: 'exact', value: sql.ref('s.external_id') },
  active: { type: 'boolean', value: sql`(${sql.ref('m.role')} is not null)` },
  displayname: text(sql.ref('u.name')),
  'name.formatted': text(sql.ref('u.name')),
  'name.givenname': profile('givenName'),
  'name.familyname': profile('familyName'),
  emails: text(sql.ref('u.email')),
  'emails.value': text(sql.ref('u.email')),
  'emails.type': text(sql`'work'`),
  'emails.primary': { type: 'boolean', value: sql`true` },
  'meta.resourcetype': text(sql`'User'`),
  'meta.created': { type: 'instant', value: sql`coalesce(${sql.ref('s.created_at')}, ${sql.ref('u.created_at')})` },
  'meta.lastmodified': {
    type: 'instant',
    value: sql`greatest(${sql.ref('s.updated_at')}, ${sql.ref('u.updated_at')})`,
  },
} as const satisfies Readonly<Record<string, Compared>>;
