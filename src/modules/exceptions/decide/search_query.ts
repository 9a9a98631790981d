import type { Fault } from '#kernel/errors.ts';

/** Fields that events of a group are searched by, besides tags. */
const EVENT_FIELDS = ['user', 'env', 'release', 'url', 'transaction', 'file', 'message'] as const;
type EventField = (typeof EVENT_FIELDS)[number];

/** A condition on an event. Where values match as a whole, `*` stands for anything. */
export type EventCondition =
  | { readonly field: EventField; readonly value: string }
  | { readonly field: 'tag'; readonly key: string; readonly value: string };

/** A condition that is told by columns alone, without the stored event. */
export type ColumnCondition =
  | { readonly field: 'env' | 'release'; readonly value: string }
  | { readonly field: 'tag'; readonly key: string; readonly value: string };

/** Writes a condition as it is searched for. */
export function conditionText(condition: EventCondition): string {
  const key = condition.field === 'tag' ? `tag.${condition.key}` : condition.field;
  const { value } = condition;
  return /^(?!\/\/)[^\s"\\]+$/.test(value)
    ? `${key}:${value}`
    : `${key}:"${value.replaceAll(/["\\]/g, (mark) => `\\${mark}`)}"`;
}

/** Limit on the length of a search, and on its conditions. */
export const QUERY_LENGTH_MAX = 500;
export const QUERY_CONDITIONS_MAX = 10;

/** Other names for fields. */
const ALIASES: Readonly<Record<string, EventField>> = { environment: 'env', address: 'url', path: 'file' };

/** A search as it is meant: every condition holds for one event, and the group has the text in its title or place. */
export interface SearchQuery {
  readonly conditions: readonly EventCondition[];
  /** Release in which groups were first seen; null for any. */
  readonly newIn: string | null;
  /** Plain words, in their order; empty for none. */
  readonly text: string;
}

type Parsed = { readonly query: SearchQuery; readonly fault: null } | { readonly query: null; readonly fault: string };

/** One part of the text: words, or a field with its value. Quotation marks keep a value with spaces together. */
const PART = /([A-Za-z][\w.-]*):(?=\s|$)|(?:([A-Za-z][\w.-]*):)?(?:"((?:[^"\\]|\\.)*)"|(\S+))/suy;

/**
 * Parses a search such as `user:42 env:prod file:checkout.ts tag.customer:acme "text"`. What is wrong is one sentence
 * that says what to write instead.
 */
export function parseSearchQuery(text: string): Parsed {
  if (text.length > QUERY_LENGTH_MAX) return faulty(`is longer than ${QUERY_LENGTH_MAX} characters: shorten it`);
  const conditions: EventCondition[] = [];
  const words: string[] = [];
  let newIn: string | null = null;
  for (const part of partsOf(text)) {
    if (part === null) return faulty('has a quotation mark that is not closed: add one at the end');
    const { key, value, isQuoted } = part;
    if (key === null) {
      words.push(value);
      continue;
    }
    const field = EVENT_FIELDS.find((name) => name === key) ?? ALIASES[key];
    const isField = field !== undefined || key === 'new' || key.startsWith('tag.');
    // An address is text, and so is a word with a colon behind it.
    if (!isQuoted && (value.startsWith('//') || !/^[a-z]/.test(key) || (value === '' && !isField))) {
      words.push(`${key}:${value}`);
      continue;
    }
    if (value === '')
      return faulty(`says nothing after ${key}: write ${key}:VALUE, or "${key}:" to search for the text`);
    if (key === 'new') {
      if (newIn !== null) return faulty('names two releases after new: — keep one');
      newIn = value;
      continue;
    }
    if (field !== undefined) conditions.push({ field, value });
    else if (key.startsWith('tag.') && key.length > 4) conditions.push({ field: 'tag', key: key.slice(4), value });
    else {
      const fields = [...EVENT_FIELDS, 'new'].join(', ');
      return faulty(
        `has no field ${key}: for a tag write tag.${key}:${value}, for text write "${key}:${value}"; fields are ${fields}`,
      );
    }
  }
  if (conditions.length > QUERY_CONDITIONS_MAX) {
    return faulty(`has ${conditions.length} conditions: keep at most ${QUERY_CONDITIONS_MAX}`);
  }
  return { query: { conditions, newIn, text: words.join(' ') }, fault: null };
}

/** Returns what is wrong with a search, at its field. */
export function searchQueryFaults(path: string, text: string): Fault[] {
  const { fault } = parseSearchQuery(text);
  return fault === null ? [] : [{ path, message: fault }];
}

interface Part {
  readonly key: string | null;
  readonly value: string;
  readonly isQuoted: boolean;
}

/** Splits the text; null stands for a quotation mark that is not closed. */
function partsOf(text: string): (Part | null)[] {
  const parts: (Part | null)[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at += 1;
      continue;
    }
    PART.lastIndex = at;
    const [whole = '', alone, key, quoted, plain = ''] = PART.exec(text) ?? [];
    if (whole === '') return [...parts, null];
    at += whole.length;
    if (quoted === undefined && plain.startsWith('"')) return [...parts, null];
    const value = quoted === undefined ? plain : quoted.replaceAll(/\\(.)/g, '$1');
    parts.push({ key: key ?? alone ?? null, value: alone === undefined ? value : '', isQuoted: quoted !== undefined });
  }
  return parts;
}

function faulty(fault: string): Parsed {
  return { query: null, fault };
}
