import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { reportedException } from '#modules/exceptions/decide/event.ts';
import { culpritFrame } from '#modules/exceptions/decide/grouping_v2/frames.ts';

const DEFAULT = /^\{\{\s*default\s*\}\}$/;
const VARIABLE = /\{\{\s{0,20}([\w.-]{1,200})\s{0,20}\}\}/g;

/** Whether the entry stands for the product's own grouping. */
export function isDefaultEntry(entry: string): boolean {
  return DEFAULT.test(entry.trim());
}

/**
 * Whether the client sent its own grouping. `["{{ default }}"]` alone asks for what happens anyway.
 */
export function hasOwnFingerprint(event: ExceptionEvent): boolean {
  return event.fingerprint.some((entry) => !isDefaultEntry(entry));
}

/** Limit on the length of a filled-in value: longer than any name, and enough of a message to tell it from others. */
const FILLED_LENGTH_MAX = 10_000;

/** Fills in the variables of an entry: `{{ type }}`, `db {{ tags.region }}`. One without a value is `<no type>`. */
export function fillVariables(entry: string, event: ExceptionEvent): string {
  let left = FILLED_LENGTH_MAX;
  return entry.replace(VARIABLE, (whole: string, name: string) => {
    const value = valueOf(name, event);
    const filled = (value === undefined ? whole : (value ?? `<no ${name}>`)).slice(0, left);
    left -= filled.length;
    return filled;
  });
}

/** Returns the value of a variable; undefined for an unknown name. The longer names are of Sentry's documentation. */
function valueOf(name: string, event: ExceptionEvent): string | null | undefined {
  if (name.startsWith('tags.')) {
    const tag = name.slice('tags.'.length);
    return Object.hasOwn(event.tags, tag) ? (event.tags[tag] ?? null) : null;
  }
  switch (name) {
    case 'type':
    case 'error.type':
      return reportedException(event)?.type ?? null;
    case 'value':
    case 'error.value':
      return reportedException(event)?.value ?? null;
    case 'message':
      return event.message ?? reportedException(event)?.value ?? null;
    case 'function':
    case 'stack.function':
      return culpritFrame(event)?.function ?? null;
    case 'module':
    case 'stack.module':
      return culpritFrame(event)?.module ?? null;
    case 'path':
    case 'stack.abs_path':
      return culpritFrame(event)?.absPath ?? null;
    case 'transaction':
      return event.transaction;
    case 'level':
      return event.level;
    case 'logger':
      return event.logger;
    case 'platform':
      return event.platform;
    case 'environment':
      return event.environment;
    case 'release':
      return event.release;
    default:
      return undefined;
  }
}
