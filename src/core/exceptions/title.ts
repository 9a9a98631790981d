import type { ExceptionEvent, ExceptionValue } from '#core/exceptions/event.ts';
import { reportedException } from '#core/exceptions/event.ts';
import { culpritOf } from '#core/exceptions/frames.ts';
import { maskUnique } from '#core/exceptions/masking.ts';

/** What a title is made of. A group keeps its first event's, and puts its pattern in the place of the message. */
export interface Headline {
  /** Short, without namespaces; null where the type says nothing. */
  readonly type: string | null;
  /** What `minePattern` and `mergePattern` are given. */
  readonly message: string | null;
  /** The culprit's label: stands in where the message has no words. */
  readonly place: string | null;
}

const TITLE_LENGTH_MAX = 120;

export function headlineOf(event: ExceptionEvent): Headline {
  const place = culpritOf(event)?.label ?? event.transaction;
  const said = sayable(event.message ?? event.messageTemplate);
  const exception = exceptionToShow(event);
  if (exception === null) return { type: null, message: said, place };
  const type = exception.mechanism?.synthetic === true ? null : shortType(exception.type);
  const message = withoutType(sayable(exception.value), [exception.type, type]);
  if (message === null) return { type, message: type === null ? said : null, place };
  return { type: type !== null && message.startsWith(`${type} `) ? null : type, message, place };
}

/**
 * A title for a wall: `ValueError: bad order <*>`, at most 120 characters on one line. Ids, hashes and instants are
 * left out, numbers and hosts kept; a message without any word gives way to the place.
 */
export function titleOf(headline: Headline): string {
  const message = headline.message === null ? '' : maskUnique(firstLine(headline.message));
  const said = hasWords(message) ? message : '';
  if (said !== '') return shorten(headline.type === null ? said : `${headline.type}: ${said}`);
  const what = headline.type ?? (message === '' ? null : message);
  if (headline.place === null) return shorten(what ?? 'Event without a message');
  return shorten(`${what ?? 'Event without a message'} in ${headline.place}`);
}

/** A wrapper whose message is only its cause's (`java.io.IOException: disk full`) gives way to that cause. */
function exceptionToShow(event: ExceptionEvent): ExceptionValue | null {
  const reported = reportedException(event);
  const cause = event.exceptions.at(-2);
  if (reported === null || cause === undefined || cause.type === null || reported.value === null) return reported;
  const qualified = cause.module === null ? cause.type : `${cause.module}.${cause.type}`;
  const wrapped = [qualified, cause.type].flatMap((type) => [`${type}: ${cause.value ?? ''}`, type]);
  return wrapped.some((text) => text.trim() === reported.value?.trim()) ? cause : reported;
}

/** Types that every error of their language has, so that they tell nothing apart. */
const EMPTY_TYPES =
  /^\*?(?:errors\.(?:errorString|fundamental|withStack|withMessage|joinError)|fmt\.wrapErrors?|errorString|wrapError|withStack|UnknownError|string|null|undefined)$/;

/** `java.lang.IllegalStateException`, `App\Exceptions\PaymentFailed`, `*net.OpError` as people say them. */
function shortType(type: string | null): string | null {
  const text = firstLine(type ?? '');
  if (text === '' || EMPTY_TYPES.test(text)) return null;
  if (/^runtime\.\w*[eE]rror\w*$/.test(text)) return 'panic';
  const bare = text.replace(/^[*_]+/, '').replace(/[<[(].*$/s, '');
  const name = bare.split(/[\\/]/).at(-1) ?? bare;
  const isGo = /^[a-z]\w*\.\w+$/.test(name);
  return !isGo && /^(?:[\w$]+\.)+[A-Z][\w$]*$/.test(name) ? (name.split('.').at(-1) ?? name) : name;
}

/** Said for want of a message. */
const EMPTY_MESSAGES =
  /^(?:exception of type '.*' was thrown|unhandled (?:exception|error)|unknown error|(?:an )?error(?: occurr?ed)?|no (?:error )?message|null|undefined|none|nil|fatal error: \w+)[.!]?$/i;

/** What frameworks put before the message itself. */
const PREAMBLES =
  /^(?:\([\w.]{1,80}(?:Error|Exception|Warning)\) |One or more errors occurred\. (?=\()|Non-Error promise rejection captured with value: |Uncaught (?:\(in promise\) )?(?=[\w ]*\w)|\(Status \d{3}\) (?:\(Request \S{1,80}\) )?)/;

/** The line of a text that a person would quote. Null when none says anything. */
function sayable(text: string | null): string | null {
  const line = firstLine(messageInJson(text ?? '') ?? text ?? '').replace(PREAMBLES, '');
  const inner = /^\((.*)\)$/.exec(line)?.[1] ?? line;
  const plain = inner.replace(/(?<=[^.])[.:]$/, '');
  return plain === '' || EMPTY_MESSAGES.test(plain) ? null : plain;
}

/** Some senders put a whole answer of an API where the message should be. */
function messageInJson(text: string): string | null {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    const fields = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const said = [fields['message'], fields['error'], fields['detail'], fields['title'], fields['error_description']];
    return (said.find((field) => typeof field === 'string' && field.trim() !== '') as string | undefined) ?? null;
  } catch {
    return null;
  }
}

/** Many runtimes put the type before the message once more, or instead of it. */
function withoutType(message: string | null, types: readonly (string | null)[]): string | null {
  for (const type of types) {
    if (message === type) return null;
    if (message?.startsWith(`${type}: `) === true) return message.slice(`${type}: `.length);
  }
  return message;
}

/** The first line that is not blank, with the next one if it only announces it. */
function firstLine(text: string): string {
  const [first = '', second = ''] = text
    .split('\n')
    .map(plainLine)
    .filter((line) => line !== '');
  return first.endsWith(':') && second !== '' ? `${first} ${second}` : first;
}

/** Without the colours of a terminal, control characters and marks that would turn the writing around. */
function plainLine(line: string): string {
  return line
    .replaceAll(/\p{Cc}\[[0-9;]{0,16}m/gu, '')
    .replaceAll(/[\s\p{Cc}\u202A-\u202E\u2066-\u2069]+/gu, ' ')
    .trim();
}

/** Whether anything but variables and punctuation is said. */
function hasWords(text: string): boolean {
  return /\p{L}{2}/u.test(text.replaceAll(/<[\w*]{1,12}>/g, ''));
}

/** Cut between words where that loses little. */
function shorten(text: string): string {
  if (text.length <= TITLE_LENGTH_MAX) return text;
  const cut = text.slice(0, TITLE_LENGTH_MAX - 1).replace(/\p{Cs}$/u, '');
  const atWord = cut.replace(/[\s,;:(]+\S{0,24}$/, '');
  return `${atWord}…`;
}
