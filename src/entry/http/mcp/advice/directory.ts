import { distance } from 'fastest-levenshtein';

import type { AnyAction } from '#actions/action_context.ts';
import { ACTIONS } from '#actions/registry.ts';
import { runAction } from '#actions/run_action.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import type { ListedThing } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { KIND_NOUNS, type Kind } from '#kernel/ids.ts';

/** Candidates for a text that is not an id of the kind. */
export interface Meant {
  /** Object that the text refers to; null if that is not clear. */
  readonly only: ListedThing | null;
  /** Whether it was named exactly, rather than nearly. */
  readonly isExact: boolean;
  readonly candidates: readonly ListedThing[];
}

const CANDIDATES_MAX = 5;
const TEXT_MAX = 120;

/** Returns the first action whose result lists objects of the kind. */
function listingOf(kind: Kind) {
  for (const action of ACTIONS) {
    const entries = action.lists?.[kind];
    if (entries !== undefined) return { action, entries };
  }
  return null;
}

/** Index of what the organization has, as far as this caller may see it. Lists are read once, and only when needed. */
export class Directory {
  readonly #exchange: Exchange;
  readonly #results = new Map<string, Promise<unknown>>();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  /** Lists the objects of a kind; empty if the caller may not see them. */
  async list(kind: Kind): Promise<readonly ListedThing[]> {
    const listing = listingOf(kind);
    if (listing === null) return [];
    const result = await this.#read(listing.action);
    return result === null ? [] : listing.entries(result);
  }

  async #read(action: AnyAction): Promise<unknown> {
    const { runtime, caller, origin } = this.#exchange;
    const answer = this.#results.get(action.name) ?? runAction(runtime, action, caller, {}, origin);
    this.#results.set(action.name, answer);
    try {
      return await answer;
    } catch (error) {
      if (error instanceof AppError) return null;
      throw error;
    }
  }

  /** Finds the objects that a text may refer to where an id of the kind is expected. */
  async find(kind: Kind, written: string): Promise<Meant> {
    const text = written.trim().slice(0, TEXT_MAX);
    const entries = await this.list(kind);
    const other = kindOfId(text);
    if (other !== null && other !== kind) return await this.#related(kind, text, other, entries);
    const plain = plainOf(text);
    const exact = entries.filter(({ id, names }) => id === text || names.some((name) => plainOf(name) === plain));
    if (exact.length > 0)
      return {
        only: exact.length === 1 ? (exact[0] ?? null) : null,
        isExact: true,
        candidates: exact.slice(0, CANDIDATES_MAX),
      };
    const near = entries
      .map((entry) => ({
        entry,
        apart: Math.min(...[entry.id, ...entry.names].map((name) => apart(plain, plainOf(name)))),
      }))
      .filter(({ apart: share }) => share <= 0.4)
      .toSorted((a, b) => a.apart - b.apart);
    const [first, second] = near;
    const isClear = first !== undefined && (second === undefined || second.apart - first.apart > 0.1);
    return {
      only: isClear ? first.entry : null,
      isExact: false,
      candidates: (near.length > 0 ? near.map(({ entry }) => entry) : entries).slice(0, CANDIDATES_MAX),
    };
  }

  /** Finds candidates for an id of another kind: what belongs to it, or what it belongs to. */
  async #related(kind: Kind, id: string, other: Kind, entries: readonly ListedThing[]): Promise<Meant> {
    const named = (await this.list(other)).find((entry) => entry.id === id);
    const related = entries.filter((entry) => entry.links.includes(id) || named?.links.includes(entry.id) === true);
    const only = related.length === 1 || kind === 'incident' ? (related[0] ?? null) : null;
    return {
      only,
      isExact: related.length === 1,
      candidates: (related.length > 0 ? related : entries).slice(0, CANDIDATES_MAX),
    };
  }
}

/** Returns the kind whose prefix the text has; null if there is none. */
export function kindOfId(text: string): Kind | null {
  const prefix = /^([a-z]+)_[0-9a-z]{20,}$/i.exec(text)?.[1]?.toLowerCase() ?? '';
  return isKind(prefix) ? prefix : null;
}

function plainOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/^(?:incident|inc|service|team|rule|schedule|policy|user)?[\s#_-]*(?=\d+$)/, '')
    .replaceAll(/[^\p{L}\p{N}@.+]+/gu, ' ')
    .trim();
}

/** Returns the distance, from 0 (equal) to 1. A name that contains the written text is near. */
function apart(written: string, name: string): number {
  if (written.length >= 3 && (name.includes(written) || (written.includes(name) && name.length >= 3))) return 0.15;
  return distance(written, name) / Math.max(written.length, name.length, 1);
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(KIND_NOUNS, text);
}
