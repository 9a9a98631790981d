import { type ExceptionEvent, type ExceptionValue, reportedException } from '#modules/exceptions/decide/event.ts';
import { culpritOf } from '#modules/exceptions/decide/frames.ts';
import { ANONYMOUS_CLASS, MINIFIED_TYPE } from '#modules/exceptions/decide/generated_names.ts';
import { maskUnique } from '#modules/exceptions/decide/masking.ts';

/** Parts of a title. A group keeps its first event's, with its pattern in place of the message. */
export interface Headline {
  /** Type, short and without namespaces; null if it says nothing. */
  readonly type: string | null;
  /** Message for `mergePattern`. */
  readonly message: string | null;
  /** Label of the culprit, which stands in if the message has no words. */
  readonly place: string | null;
}

const TITLE_LENGTH_MAX = 120;

export function headlineOf(event: ExceptionEvent): Headline {
  const place = culpritOf(event)?.label ?? event.transaction;
  const said = readableMessage(event.message ?? event.messageTemplate);
  const exception = exceptionToShow(event);
  if (exception === null) return { type: null, message: said, place };
  const type = typeToShow(exception);
  const message = messageToShow(event, exception, type);
  if (message === null) return { type, message: type === null ? said : null, place };
  return { type: type !== null && isSaid(type, message) ? null : type, message, place };
}

/**
 * Returns a title for a dashboard: `ValueError: bad order <*>`, at most 120 characters on one line. Ids, hashes and
 * instants are left out, numbers and hosts kept; a message without any word gives way to the place.
 */
export function titleOf(headline: Headline): string {
  const message = headline.message === null ? '' : maskUnique(firstLine(headline.message));
  const said = hasWords(message) && !saysLittle(message) ? message : '';
  if (said !== '') return shorten(headline.type === null ? said : `${headline.type}: ${said}`);
  const what = headline.type ?? (message === '' ? null : message);
  if (headline.place === null) return shorten(what ?? 'Event without a message');
  return shorten(`${what ?? 'Event without a message'} in ${headline.place}`);
}

/**
 * Returns the exception to show. A wrapper whose message is only its cause's (`java.io.IOException: disk full`) gives
 * way to that cause.
 */
function exceptionToShow(event: ExceptionEvent): ExceptionValue | null {
  const reported = reportedException(event);
  const cause = event.exceptions.at(-2);
  if (reported === null || cause === undefined || cause.type === null || reported.value === null) return reported;
  const qualified = cause.module === null ? cause.type : `${cause.module}.${cause.type}`;
  const wrapped = [qualified, cause.type].flatMap((type) => [`${type}: ${cause.value ?? ''}`, type]);
  return wrapped.some((text) => text.trim() === reported.value?.trim()) ? cause : reported;
}

/** Returns the type to show. Programs also throw null or undefined: `null thrown in sell (shop.js)`. */
function typeToShow({ type, value, module, mechanism }: ExceptionValue): string | null {
  if (mechanism?.synthetic !== true) return shortType(type, module);
  return value === 'null' || value === 'undefined' ? `${value} thrown` : null;
}

/** Messages of wrappers that say nothing without their cause's. */
const ANNOUNCEMENTS = /^(?:fetch failed|All promises were rejected)$/;

function messageToShow(event: ExceptionEvent, exception: ExceptionValue, type: string | null): string | null {
  const value = exception.value === null ? null : withoutRubyDetail(exception.value, exception.type);
  const message = withoutType(readableMessage(value), [exception.type, type]);
  if (message !== null && !ANNOUNCEMENTS.test(message)) return message;
  const causes = event.exceptions.slice(0, event.exceptions.indexOf(exception));
  const cause = causes.map(({ value }) => readableMessage(value)).findLast((text) => text !== null) ?? null;
  if (cause === null || message === null) return message ?? cause;
  return `${message}: ${cause}`;
}

/** Whether the message says what the type does: `context.deadlineExceededError: context deadline exceeded`. */
function isSaid(type: string, message: string): boolean {
  if (message.startsWith(`${type} `)) return true;
  const words = /^[a-z]\w*\.([a-z]\w*)Error$/.exec(type)?.[1]?.match(/[A-Z]?[a-z]+/g) ?? [];
  return words.length > 1 && words.every((word) => message.toLowerCase().includes(word.toLowerCase()));
}

/** Types that every error of their language has, so they do not distinguish errors. */
const EMPTY_TYPES =
  /^\*?(?:errors\.(?:errorString|fundamental|withStack|withMessage|joinError)|fmt\.wrapErrors?|errorString|wrapError|withStack|UnknownError|string|null|undefined)$/;

/** Shortens `java.lang.IllegalStateException`, `App\Exceptions\PaymentFailed` or `*net.OpError` to its usual name. */
function shortType(type: string | null, module: string | null): string | null {
  const text = firstLine((type ?? '').replace(...ANONYMOUS_CLASS));
  if (text === '' || EMPTY_TYPES.test(text) || MINIFIED_TYPE.test(text)) return null;
  if (/^\*?runtime\.\w*[eE]rror\w*$/.test(text)) return 'panic';
  // Python's re, struct and socket name their exceptions so.
  if (text === 'error' && module !== null) return `${module.split('.').at(-1) ?? module}.error`;
  const bare = text
    .replace(/^[*_]+/, '')
    .replace(/^main\./, '')
    .replace(/[<[(].*$/s, '');
  const name = bare.split(/[\\/]/).at(-1) ?? bare;
  const isGo = /^[a-z]\w*\.\w+$/.test(name);
  return !isGo && /^(?:[\w$]+\.)+[A-Z][\w$]*$/.test(name) ? (name.split('.').at(-1) ?? name) : name;
}

/** Removes the type from the message: many runtimes repeat it before the message, or send it instead of one. */
function withoutType(message: string | null, types: readonly (string | null)[]): string | null {
  for (const type of types) {
    if (type === null || message === null) continue;
    if (message === type) return null;
    if (message.startsWith(`${type}: `)) return withoutType(message.slice(`${type}: `.length), types);
  }
  return message;
}

/** Whether anything but variables and punctuation is said. */
function hasWords(text: string): boolean {
  return /\p{L}{2}/u.test(text.replaceAll(/<[\w*]{1,12}>/g, ''));
}

/** Whether a pattern has come to be made of gaps: `<*> nil <*>`. */
function saysLittle(text: string): boolean {
  const [first = '', ...others] = text.split('<*>');
  const words = [first, ...others].join(' ').match(/\p{L}{2,}/gu) ?? [];
  return others.length > 1 && words.length < 2;
}

/** Shortens a title, between words if that loses little. */
function shorten(text: string): string {
  if (text.length <= TITLE_LENGTH_MAX) return text;
  const cut = text.slice(0, TITLE_LENGTH_MAX - 1).replace(/\p{Cs}$/u, '');
  const atWord = cut.replace(/[\s,;:(]+\S{0,24}$/, '');
  return `${atWord}…`;
}

/** Phrases that senders use when they have no message. */
const EMPTY_MESSAGES =
  /^(?:exception of type '.*' was thrown|unhandled (?:exception|error)|unknown error|(?:an )?error(?: occurr?ed)?|no (?:error )?message|null|undefined|none|nil|fatal error: \w+|instance of 'minified:\w{1,40}')[.!]?$/i;

/** Preambles that runtimes and frameworks put before the message itself. */
const PREAMBLES =
  /^(?:\([\w.]{1,80}(?:Error|Exception|Warning)\) |One or more errors occurred\. (?=\()|Non-Error promise rejection captured with value: |Uncaught (?:\(in promise\) )?(?=[\w ]*\w)|\(Status \d{3}\) (?:\(Request \S{1,80}\) )?|\[(?:Errno|WinError) -?\d{1,6}\] )/;

/** Wrapper of Python's urllib around a message. */
const WRAPPED = /^<urlopen error (.{1,300})>$/;

/** Returns the line of a message that a person would quote. Null when no line says anything. */
function readableMessage(text: string | null): string | null {
  const whole = text ?? '';
  const line = firstLine(messageInJson(whole) ?? titleOfPage(whole) ?? endOfTraceback(whole) ?? whole);
  const bare = (WRAPPED.exec(line)?.[1] ?? line).replace(PREAMBLES, '');
  const inner = /^\((.*)\)$/.exec(bare)?.[1] ?? bare;
  const plain = inner.replace(/(?<=[^.])[.:]$/, '');
  return plain === '' || EMPTY_MESSAGES.test(plain) ? null : plain;
}

/** Returns the message in JSON: some senders put a whole answer of an API, or a list of errors, in its place. */
function messageInJson(text: string): string | null {
  if (!/^\s*[{[]/.test(text)) return null;
  try {
    const parsed = JSON.parse(text) as unknown;
    return messageOf(Array.isArray(parsed) ? parsed[0] : parsed);
  } catch {
    return null;
  }
}

/** Returns the message, with the path of the wrong field if the sender gives it: `email: Required`. */
function messageOf(parsed: unknown): string | null {
  if (typeof parsed !== 'object' || parsed === null) return null;
  const fields = parsed as Readonly<Record<string, unknown>>;
  const candidates = ['message', 'msg', 'error', 'detail', 'title', 'error_description'].map((name) => fields[name]);
  const said = candidates.find((field) => typeof field === 'string' && field.trim() !== '') as string | undefined;
  if (said === undefined) return null;
  const { path } = fields;
  return Array.isArray(path) && path.length > 0 ? `${path.join('.')}: ${said}` : said;
}

/** Returns the title of an HTML page that a gateway sent instead of an answer. */
function titleOfPage(text: string): string | null {
  if (!/^\s*<(?:!doctype html|html|head)\b/i.test(text)) return null;
  return /<title>([^<]{1,200})<\/title>/i.exec(text.slice(0, 4_000))?.[1] ?? null;
}

/** Returns the last line of a Python traceback, for workers that put a whole traceback in a message. */
function endOfTraceback(text: string): string | null {
  if (!/^\s*(?:"""\s*)?Traceback \(most recent call last\):/.test(text)) return null;
  return text.split('\n').findLast((line) => /^\w[\w.]*(?:: |$)/.test(line)) ?? null;
}

/** Returns the first non-empty line, joined with the next one if it only introduces it. */
function firstLine(text: string): string {
  const [first = '', second = ''] = text
    .split('\n')
    .map(plainLine)
    .filter((line) => line !== '');
  return first.endsWith(':') && second !== '' && !/^[+-] /.test(second) ? `${first} ${second}` : first;
}

/** Removes terminal colours, control characters and marks that change the direction of text. */
function plainLine(line: string): string {
  return line
    .replaceAll(/\p{Cc}\[[0-9;]{0,16}m/gu, '')
    .replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim();
}

const MARKED_PLACE = /^\s+\^[\^~ ]*$/;

/**
 * Returns the message of an error of Ruby without what `detailed_message` adds: the type behind its first line, and the
 * line of source that raised it, with the mark below. Other messages stay as they are.
 */
export function withoutRubyDetail(text: string, type: string | null): string {
  const lines = text.split('\n');
  const [first = ''] = lines;
  const said = ` (${type ?? ''})`;
  const plain = first.replaceAll(/\p{Cc}\[[0-9;]{0,16}m/gu, '').trimEnd();
  const marked = lines.findIndex((line) => MARKED_PLACE.test(line));
  if (type === null || !plain.endsWith(said)) return text;
  const rest = marked < 2 ? lines.slice(1) : [...lines.slice(1, marked - 1), ...lines.slice(marked + 1)];
  return [plain.slice(0, -said.length), ...rest].join('\n').trimEnd();
}
