import { keysOf } from '#kernel/records.ts';
import type { AssignmentRule } from '#modules/exceptions/decide/assignment.ts';
import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';
import type { ExceptionEvent, Json } from '#modules/exceptions/decide/event.ts';

/** Kinds of events that a service may leave out, because nobody can act on them. */
export const INBOUND_FILTERS = ['bots', 'browser_extensions', 'legacy_browsers'] as const;
export type InboundFilter = (typeof INBOUND_FILTERS)[number];

/** Settings of a service for exceptions: the events it leaves out, and the fields that hold secrets. */
export interface ExceptionSettings {
  readonly filters: readonly InboundFilter[];
  /** Texts in which `*` stands for anything. */
  readonly patterns: readonly string[];
  readonly secretNames: readonly string[];
  readonly eventsPerHour: number | null;
  /** Whether a limit follows from its usual traffic. */
  readonly learnsSpikes: boolean;
}

export const NO_SETTINGS: ExceptionSettings = {
  filters: [],
  patterns: [],
  secretNames: [],
  eventsPerHour: null,
  learnsSpikes: false,
};

/** Returns why the event is left out; null when it is kept. */
export function filterOf(
  event: ExceptionEvent,
  { filters, patterns }: Pick<ExceptionSettings, 'filters' | 'patterns'>,
): InboundFilter | 'pattern' | null {
  const matching = filters.find((filter) => FILTERS[filter](event));
  if (matching !== undefined) return matching;
  if (patterns.length === 0) return null;
  const texts = [event.message, ...event.exceptions.map(({ type, value }) => `${type ?? ''}: ${value ?? ''}`)];
  const isMatched = patterns.some((pattern) => texts.some((text) => text !== null && matchesWildcard(text, pattern)));
  return isMatched ? 'pattern' : null;
}

const FILTERS: Readonly<Record<InboundFilter, (event: ExceptionEvent) => boolean>> = {
  bots: (event) => BOT.test(userAgentOf(event)),
  browser_extensions: isOfExtension,
  legacy_browsers: (event) => isLegacy(event),
};

const BOT =
  /bot\b|crawl|spider|slurp|facebookexternalhit|headlesschrome|lighthouse|pingdom|phantomjs|googleweblight|mediapartners|ia_archiver|wget\/|curl\//i;

/** Texts that extensions and toolbars are known for. */
const EXTENSION_TEXTS = [
  'top.GLOBALS',
  'originalCreateNotification',
  'canvas.contentDocument',
  'MyApp_RemoveAllHighlights',
  'atomicFindClose',
  'fb_xd_fragment',
  'bmi_SafeAddOnload',
  'EBCallBackMessageReceived',
  'conduitPage',
  'plugin.setSuspendState is not a function',
  'Extension context invalidated',
];
const EXTENSION_FILE =
  /^(?:chrome|moz|safari|safari-web|ms-browser)-extension:\/\/|^webkit-masked-url:|^extensions::|127\.0\.0\.1:4001\/isrunning|graph\.facebook\.com/i;

function isOfExtension({ exceptions }: ExceptionEvent): boolean {
  const reported = exceptions.at(-1);
  if (reported === undefined) return false;
  if (EXTENSION_TEXTS.some((text) => reported.value?.includes(text) === true)) return true;
  const raising = reported.frames.at(-1);
  return [raising?.absPath, raising?.filename].some((file) => file != null && EXTENSION_FILE.test(file));
}

/** Oldest version of each browser whose events are kept; none for browsers that nobody maintains any more. */
const OLDEST: Readonly<Record<string, number>> = {
  ie: Infinity,
  'internet explorer': Infinity,
  'opera mini': Infinity,
  chrome: 80,
  firefox: 78,
  safari: 13,
  edge: 80,
  opera: 67,
};

function isLegacy(event: ExceptionEvent): boolean {
  const agent = userAgentOf(event);
  if (/MSIE |Trident\/|Opera Mini|Android [1-4]\./.test(agent)) return true;
  const browser = fieldOf(event.contexts, 'browser');
  const [name, version] = [textOf(fieldOf(browser, 'name')), textOf(fieldOf(browser, 'version'))];
  const fromAgent =
    /(Chrome|Firefox)\/(\d+)/.exec(agent) ?? /Version\/(\d+)[\d.]* (?:Mobile\/\S+ )?(Safari)/.exec(agent);
  if (name !== '') return isOlder(name, version);
  if (fromAgent === null) return false;
  const [, agentName = '', other = ''] = fromAgent;
  return /\d/.test(agentName) ? isOlder(other, agentName) : isOlder(agentName, other);
}

function isOlder(name: string, version: string): boolean {
  const oldest = OLDEST[name.toLowerCase()];
  const major = Number.parseInt(version, 10);
  return oldest !== undefined && (oldest === Infinity || (Number.isFinite(major) && major < oldest));
}

/** Returns the user agent; empty if the client did not say. */
function userAgentOf({ request }: ExceptionEvent): string {
  const headers = fieldOf(request, 'headers');
  const pairs: readonly (readonly [unknown, Json])[] = isList(headers)
    ? headers.flatMap((pair) => (isList(pair) ? [[pair[0], pair[1] ?? null] as const] : []))
    : Object.entries(isObject(headers) ? headers : {});
  const userAgent =
    pairs.find(([name]) => typeof name === 'string' && name.toLowerCase() === 'user-agent')?.[1] ?? null;
  return textOf(isList(userAgent) ? (userAgent[0] ?? null) : userAgent).slice(0, 500);
}

function fieldOf(json: Json, name: string): Json {
  return isObject(json) && Object.hasOwn(json, name) ? (json[name] ?? null) : null;
}

function textOf(json: Json): string {
  return typeof json === 'string' ? json : typeof json === 'number' ? String(json) : '';
}

function isList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

function isObject(json: Json): json is { readonly [name: string]: Json } {
  return typeof json === 'object' && json !== null && !isList(json);
}

type StoredLists = Pick<ExceptionSettings, 'filters' | 'patterns' | 'secretNames'> & {
  readonly assignmentRules: readonly AssignmentRule[];
};

const READABLE: Readonly<Record<keyof StoredLists, (item: unknown) => boolean>> = {
  filters: (filter) => INBOUND_FILTERS.some((name) => name === filter),
  patterns: isText,
  secretNames: isText,
  assignmentRules: isAssignmentRule,
};

/** Names of the lists that cannot be read, whoever wrote them. */
export function unreadableSettings(settings: StoredLists): (keyof StoredLists)[] {
  return keysOf(READABLE).filter((name) => {
    const list: unknown = settings[name];
    return !Array.isArray(list) || !list.every(READABLE[name]);
  });
}

function isText(stored: unknown): boolean {
  return typeof stored === 'string';
}

function isAssignmentRule(stored: unknown): boolean {
  const { path, tag, assigneeId } = Object(stored) as Record<string, unknown>;
  const { key, value } = Object(tag) as Record<string, unknown>;
  return (path === null || isText(path)) && (tag === null || (isText(key) && isText(value))) && isText(assigneeId);
}
