import { type Filter, parse } from 'scim2-parse-filter';

import { ScimError } from './scim_values.ts';

export type { Filter };

const LENGTH_MAX = 1_000;
const COMPARISONS_MAX = 20;

/** Parses a filter (RFC 7644, section 3.4.2.2). Throws `invalidFilter`. */
export function parseFilter(text: string): Filter {
  if (text.length > LENGTH_MAX) throw invalid(`must have at most ${LENGTH_MAX} characters`);
  // The parser backtracks over line breaks in a text that is not closed.
  if (/\p{Cc}/u.test(text)) throw invalid('must not contain control characters');
  let filter: Filter;
  try {
    filter = parse(text);
  } catch {
    throw invalid(`cannot be read: ${text.slice(0, 100)}`);
  }
  if (comparisonsOf(filter) > COMPARISONS_MAX) throw invalid(`must compare at most ${COMPARISONS_MAX} times`);
  return filter;
}

/** Returns the value that an attribute must equal for the filter to hold; null where it names none. */
export function requiredValue(filter: Filter, names: readonly string[]): string | null {
  if (filter.op === 'and') {
    for (const inner of filter.filters) {
      const value = requiredValue(inner, names);
      if (value !== null) return value;
    }
    return null;
  }
  if (filter.op !== 'eq' || !names.includes(attributeName(filter.attrPath))) return null;
  return typeof filter.compValue === 'string' ? filter.compValue : null;
}

/** Returns the path of an attribute in lower case, without the name of the core schema. */
export function attributeName(path: string): string {
  return path.toLowerCase().replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/, '');
}

/** Returns the values that a filter such as `value eq "a" or value eq "b"` names. Throws `invalidFilter` for others. */
export function namedValues(filter: Filter): string[] {
  if (filter.op === 'or') return filter.filters.flatMap((inner) => namedValues(inner));
  const isNamed = filter.op === 'eq' && attributeName(filter.attrPath) === 'value';
  if (isNamed && typeof filter.compValue === 'string') return [filter.compValue];
  throw invalid('of members must be value eq "<id>"');
}

function comparisonsOf(filter: Filter): number {
  switch (filter.op) {
    case 'and':
    case 'or':
      return filter.filters.reduce((sum, inner) => sum + comparisonsOf(inner), 0);
    case 'not':
      return comparisonsOf(filter.filter);
    case '[]':
      return comparisonsOf(filter.valFilter);
    default:
      return 1;
  }
}

function invalid(what: string): ScimError {
  return new ScimError('invalidFilter', `the filter ${what}`);
}
