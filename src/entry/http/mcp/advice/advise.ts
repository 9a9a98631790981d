import type { AnyAction } from '#actions/action_context.ts';
import { checkInput } from '#actions/check_input.ts';
import { kindOfProperty } from '#actions/id_sources.ts';
import { nearestActions } from '#actions/nearest_actions.ts';
import { ACTIONS } from '#actions/registry.ts';
import { Directory, kindOfId } from '#entry/http/mcp/advice/directory.ts';
import { fillIn } from '#entry/http/mcp/advice/fill_in.ts';
import { repairShape } from '#entry/http/mcp/advice/repair_shape.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import type { ListedThing } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { type Kind, KIND_NOUNS } from '#kernel/ids.ts';
import { withTimeout } from '#kernel/promises.ts';
import { limitBy } from '#kernel/time.ts';

export interface Suggestion {
  readonly name: string;
  readonly arguments: unknown;
}

interface Advice {
  readonly sentences: readonly string[];
  /** Corrected call, which never does more than the original one; null if no correction is certain enough. */
  readonly suggestion: Suggestion | null;
}

const NONE: Advice = { sentences: [], suggestion: null };
const ADVICE_TIMEOUT_MS = 2_000;
/** Greatest length of a body that is corrected: a larger one was not written by hand. */
const BODY_CHARACTERS_MAX = 20_000;

/**
 * Suggests a correction of a call that was refused for its arguments, or whose ids do not exist. Never throws. Of the 100
 * recorded calls in `test/contract/wrong_calls.ts` 96 are refused, and 95 of these are right when they are made again as
 * suggested.
 */
export async function adviseOn(
  exchange: Exchange,
  action: AnyAction,
  input: unknown,
  error: AppError,
): Promise<Advice> {
  if (error.code !== 'invalid_input' && error.code !== 'not_found') return NONE;
  if ((JSON.stringify(input) ?? '').length > BODY_CHARACTERS_MAX) return NONE;
  const timeoutMs = limitBy(exchange.runtime.clock, ADVICE_TIMEOUT_MS);
  try {
    return await withTimeout(suggestCorrection(exchange, action, input), timeoutMs, () => NONE);
  } catch (failure) {
    if (!(failure instanceof AppError))
      exchange.log.warn({ err: failure, requestId: exchange.origin.requestId }, 'failed to suggest a corrected call');
    return NONE;
  }
}

async function suggestCorrection(exchange: Exchange, action: AnyAction, input: unknown): Promise<Advice> {
  const directory = new Directory(exchange);
  const body = typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
  const shaped = repairShape(action.input, body, action.effect === 'read');
  const { value: named, sentences: ids } = await repairIds(shaped, directory, action.effect === 'delete');
  const { value, sentences: filled } = await fillIn(action, named, directory, exchange);
  const sentences = [...ids, ...filled];
  if (JSON.stringify(value) === JSON.stringify(input) || !isRight(action, value))
    return { sentences, suggestion: null };
  const isFound = (await repairIds(value, directory, true)).sentences.length === 0;
  return { sentences, suggestion: isFound ? { name: action.name, arguments: value } : null };
}

function isRight(action: AnyAction, value: unknown): boolean {
  try {
    checkInput(action, value);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Suggests, for a tool that does not exist, a call of the nearest tool the caller may use that does no more. */
export async function adviseOnUnknown(exchange: Exchange, name: string, input: unknown): Promise<Suggestion | null> {
  const nearest = nearestActions(name, ACTIONS).find(({ permission }) => exchange.caller.permissions.has(permission));
  if (nearest === undefined) return null;
  if (isRight(nearest, input) && (await withIds(exchange, nearest, input)) === input)
    return { name: nearest.name, arguments: input };
  const { suggestion } = await adviseOn(exchange, nearest, input, new AppError('invalid_input', ''));
  return suggestion ?? (isRight(nearest, {}) ? { name: nearest.name, arguments: {} } : null);
}

/** Returns the body if each of its ids exists, else null. */
async function withIds(exchange: Exchange, action: AnyAction, input: unknown): Promise<unknown> {
  const { sentences } = await repairIds(input, new Directory(exchange), action.effect === 'delete');
  return sentences.length === 0 ? input : null;
}

/** Body with ids that exist, as far as they could be found, and the findings, in sentences. */
interface RepairedIds {
  readonly value: unknown;
  readonly sentences: readonly string[];
}

const SENTENCES_MAX = 6;

/**
 * Replaces names, numbers and ids of other kinds with ids. `isExact` accepts exact matches only, for calls where a
 * wrong guess could not be undone.
 */
async function repairIds(body: unknown, directory: Directory, isExact: boolean): Promise<RepairedIds> {
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
