import type { Json } from '#modules/exceptions/decide/event.ts';
import { asObject, asText, boundedJson, type JsonBudget, type JsonObject } from '#ingest/protocols/sentry/json.ts';

/**
 * Limit on the values of all frames of an event together: enough for each of twenty frames to have twenty values of a
 * hundred characters.
 */
const VALUES_MAX = 2_000;
const CHARACTERS_MAX = 64 * 1024;
const TEXT_LENGTH_MAX = 1_000;

export type VariableReader = Pick<FrameVariables, 'read'>;

export const NO_VARIABLES: VariableReader = { read: () => undefined };

/** The local variables of an event's frames, in the order in which they matter, until there are too many. */
export class FrameVariables {
  readonly #budget: JsonBudget = { left: VALUES_MAX, characters: CHARACTERS_MAX, textLengthMax: TEXT_LENGTH_MAX };

  read(sent: unknown): Readonly<Record<string, Json>> | undefined {
    if (asObject(sent) === null || this.#budget.left <= 0 || this.#budget.characters <= 0) return undefined;
    const kept = boundedJson(sent, this.#budget);
    if (!isNamed(kept) || Object.keys(kept).length === 0) return undefined;
    return kept;
  }
}

function isNamed(json: Json): json is Readonly<Record<string, Json>> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Returns the fields of an object other than these; undefined if there are none. */
export function withoutKnown(object: JsonObject, names: ReadonlySet<string>): Json | undefined {
  const others = Object.entries(object).filter(([name, value]) => !names.has(name) && value !== null && value !== '');
  return others.length === 0 ? undefined : boundedJson(Object.fromEntries(others));
}

const MODULES_MAX = 1_000;
const MODULE_LENGTH_MAX = 200;

/** Reads modules as `{ name: version }`; undefined if none were sent. */
export function asModules(sent: unknown): Readonly<Record<string, string>> | undefined {
  const entries = Object.entries(asObject(sent) ?? {})
    .slice(0, MODULES_MAX)
    .map(
      ([name, version]) => [asText(name, MODULE_LENGTH_MAX) ?? '', asText(version, MODULE_LENGTH_MAX) ?? ''] as const,
    );
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}
