import { kindOfProperty } from '#actions/id_sources.ts';
import type { Directory } from '#entry/http/mcp/advice/directory.ts';
import { kindOfId } from '#entry/http/mcp/advice/directory.ts';
import type { ListedThing } from '#kernel/action.ts';
import { KIND_NOUNS, type Kind } from '#kernel/ids.ts';

/** Body with ids that exist, as far as they could be found, and the findings, in sentences. */
export interface RepairedIds {
  readonly value: unknown;
  readonly sentences: readonly string[];
}

const SENTENCES_MAX = 6;

/**
 * Replaces names, numbers and ids of other kinds with ids. `isExact` accepts exact matches only, for calls where a
 * wrong guess could not be undone.
 */
export async function repairIds(body: unknown, directory: Directory, isExact: boolean): Promise<RepairedIds> {
  const sentences: string[] = [];
  const visit = async (value: unknown, name: string, path: string): Promise<unknown> => {
    if (Array.isArray(value)) {
      const entries: unknown[] = [];
      for (const [index, entry] of value.entries()) entries.push(await visit(entry, name, `${path}[${index}]`));
      return entries;
    }
    if (typeof value === 'object' && value !== null) {
      const members: [string, unknown][] = [];
      for (const [member, inner] of Object.entries(value)) {
        members.push([member, await visit(inner, member, path === '' ? member : `${path}.${member}`)]);
      }
      return Object.fromEntries(members);
    }
    const kind = kindOfProperty(name);
    return kind === null || typeof value !== 'string' ? value : await repairOne(kind, value, path);
  };
  const repairOne = async (kind: Kind, value: string, path: string): Promise<string> => {
    if (sentences.length >= SENTENCES_MAX) return value;
    const entries = await directory.list(kind);
    if (entries.some(({ id }) => id === value)) return value;
    const { only, isExact: isSame, candidates } = await directory.find(kind, value);
    const other = kindOfId(value);
    const what =
      other !== null && other !== kind
        ? `is the id of ${KIND_NOUNS[other]}, not of ${KIND_NOUNS[kind]}`
        : `names no ${nounOf(kind)} by its id`;
    if (only !== null && (isSame || !isExact)) {
      sentences.push(`${path}: ${JSON.stringify(value.slice(0, 80))} ${what}; ${told(only)} is meant.`);
      return only.id;
    }
    if (candidates.length > 0) {
      sentences.push(
        `${path}: ${JSON.stringify(value.slice(0, 80))} ${what}. There are: ${candidates.map(told).join('; ')}.`,
      );
    }
    return value;
  };
  return { value: await visit(body, '', ''), sentences };
}

function told({ id, names: [name = ''] }: ListedThing): string {
  return `${JSON.stringify(name.slice(0, 80))} ${id}`;
}

/** Returns the noun of a kind without its article. */
function nounOf(kind: Kind): string {
  return KIND_NOUNS[kind].replace(/^an? /, '');
}
