import { createHash } from 'node:crypto';

import {
  type EventThread,
  type ExceptionEvent,
  type ExceptionValue,
  type Frame,
  framesOf,
  reportedException,
} from '#modules/exceptions/decide/event.ts';
import { culpritOf, isInApp, isScript, stackIdentity } from '#modules/exceptions/decide/frames.ts';
import { ANONYMOUS_CLASS_SAID, stableType } from '#modules/exceptions/decide/generated_names.ts';
import { maskVariables } from '#modules/exceptions/decide/masking.ts';
import { withoutRubyDetail } from '#modules/exceptions/decide/title.ts';
import { plainEngineMessage, plainEngineType, plainWording } from '#modules/exceptions/decide/wordings.ts';

const DEFAULT = /^\{\{\s*default\s*\}\}$/;
const VARIABLE = /\{\{\s{0,20}([\w.-]{1,200})\s{0,20}\}\}/g;

/** Whether the entry stands for the product's own grouping. */
function isDefaultEntry(entry: string): boolean {
  return DEFAULT.test(entry.trim());
}

/**
 * Whether the client sent its own grouping. `["{{ default }}"]` alone asks for what happens anyway.
 */
function hasOwnFingerprint(event: ExceptionEvent): boolean {
  return event.fingerprint.some((entry) => !isDefaultEntry(entry));
}

/** Limit on the length of a filled-in value: longer than any name, and enough of a message to tell it from others. */
const FILLED_LENGTH_MAX = 10_000;

/** Fills in the variables of an entry: `{{ type }}`, `db {{ tags.region }}`. One without a value is `<no type>`. */
function fillVariables(entry: string, event: ExceptionEvent): string {
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
      return culpritOf(event)?.frame.function ?? null;
    case 'module':
    case 'stack.module':
      return culpritOf(event)?.frame.module ?? null;
    case 'path':
    case 'stack.abs_path':
      return culpritOf(event)?.frame.absPath ?? null;
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

/** Version of the grouping, raised when the same event may get another key; a group keeps the one it was made with. */
export const GROUPING_VERSION = 6;

/** Format, hashed with the parts: an event whose parts a later version leaves unchanged keeps its key. */
const KEY_FORMAT = 3;

type GroupingStrategy = 'fingerprint' | 'exception' | 'thread' | 'stacktrace' | 'message';

/** A reason why events are one group: `lines` are exactly the hashed input, `because` describes them in words. */
export interface GroupingPart {
  readonly strategy: GroupingStrategy;
  readonly because: string;
  readonly lines: readonly string[];
}

export interface Grouping {
  readonly version: number;
  /** Key of 32 lower hex digits, a function of the version and the parts' strategies and lines alone. */
  readonly key: string;
  readonly parts: readonly GroupingPart[];
}

/** Returns the group of an event and the reasons. The result for an event is the same on every machine. */
export function groupEvent(event: ExceptionEvent): Grouping {
  const parts = partsOf(event);
  return { version: GROUPING_VERSION, key: keyOf(parts), parts };
}

/** A message whose template decides which group an event belongs to, see message_templates.ts. */
export interface LearnableMessage {
  /** The message, its variables masked. */
  readonly text: string;
  /** Digest of the calls that led to its report; null if they are not known. */
  readonly place: string | null;
}

/** Returns the message; null if anything but a message and the place of its report decides the event's group. */
export function learnableMessage({ parts }: Pick<Grouping, 'parts'>): LearnableMessage | null {
  const [part, calls, ...others] = parts;
  const [text, ...more] = part?.lines ?? [];
  if (part?.strategy !== 'message' || text === undefined || more.length > 0 || others.length > 0) return null;
  if (calls === undefined) return { text, place: null };
  return calls.strategy === 'stacktrace' ? { text, place: digestOf(calls.lines) } : null;
}

/**
 * Returns the message of an event that is grouped by its stack: people can split it off the group of that key. Null if
 * the client's fingerprint or the message decides, or there is no message.
 */
export function splittableMessage(event: ExceptionEvent, { key, parts }: Grouping): LearnableMessage | null {
  if (parts.some(({ strategy }) => strategy === 'fingerprint' || strategy === 'message')) return null;
  const exception = reportedException(event);
  const said = exception === null ? event.message : valueToCount(exception, event.platform);
  const text = textIdentity(said ?? event.message, event.platform);
  return text === null ? null : { text, place: placeOfGroup(key) };
}

/** Returns the place that stands for a group of stacks, where a message's place is needed. */
export function placeOfGroup(key: string): string {
  return `group ${key}`;
}

/** Returns the key of a group that a person has split off: its events had `key`, and a stack's have this message. */
export function keyOfSplit(key: string, said?: string): string {
  return digestOf(['split', key, ...(said === undefined ? [] : [said])]);
}

function keyOf(parts: readonly GroupingPart[]): string {
  return digestOf([KEY_FORMAT, parts.map((part) => [part.strategy, part.lines])]);
}

function digestOf(hashed: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 32);
}

function partsOf(event: ExceptionEvent): readonly GroupingPart[] {
  return hasOwnFingerprint(event) ? fingerprintParts(event) : defaultParts(event);
}

/** Returns the parts of a client's fingerprint. The default entry counts once; repeating it changes nothing. */
function fingerprintParts(event: ExceptionEvent): readonly GroupingPart[] {
  const firstDefault = event.fingerprint.findIndex(isDefaultEntry);
  return event.fingerprint.flatMap((entry, index): readonly GroupingPart[] =>
    isDefaultEntry(entry)
      ? index === firstDefault
        ? defaultParts(event)
        : []
      : [
          {
            strategy: 'fingerprint',
            because: 'the fingerprint set by the client',
            lines: [fillVariables(entry, event)],
          },
        ],
  );
}

function defaultParts(event: ExceptionEvent): readonly GroupingPart[] {
  const chain = isReportedMessage(event) ? [] : chainParts(event);
  if (chain.some((part) => part.lines.length > 0)) return chain;
  const isCrash = event.thread?.crashed === true || event.message === null;
  const stack =
    (isCrash ? threadPart(event.thread, event.platform) : null) ??
    callsPart('stacktrace', REPORTED, event.stacktrace, event.platform);
  if (stack !== null) return [stack];
  const report = callsPart('stacktrace', REPORTED, framesOfReport(event), event.platform);
  return report === null ? [messagePart(event)] : [messagePart(event), report];
}

const REPORTED = 'the calls that led to the report';

/** Returns the frames where a message was reported, as far as the client shows them. */
function framesOfReport({ exceptions, thread }: ExceptionEvent): readonly Frame[] {
  return exceptions.at(-1)?.frames ?? thread?.frames ?? [];
}

/**
 * Whether it is a message to which the client added an exception of its own making, only to show where it was reported.
 * Several messages of one function would be one group if that stack alone counted.
 */
function isReportedMessage(event: ExceptionEvent): boolean {
  return event.message !== null && event.exceptions.every((exception) => exception.mechanism?.synthetic === true);
}

/**
 * Returns the parts of a chain of causes, root cause first, as sent; the members of a group of exceptions, which come
 * in any order, are ordered by their text. Causes with the same text count once.
 */
function chainParts(event: ExceptionEvent): readonly GroupingPart[] {
  const exceptions = event.exceptions.map((exception) => ({ ...exception, frames: framesOf(event, exception) }));
  const frames = exceptions.flatMap((exception) => exception.frames);
  const onlyInApp = frames.some((frame) => isInApp(frame));
  const said = exceptions.map((exception) => ({
    exception,
    part: exceptionPart(exception, { platform: event.platform, onlyInApp }),
  }));
  return [...new Map(inOrderOfGroups(said).map((part) => [part.lines.join('\n'), part])).values()];
}

interface Said {
  readonly exception: ExceptionValue;
  readonly part: GroupingPart;
}

function inOrderOfGroups(said: readonly Said[]): readonly GroupingPart[] {
  const ids = said.flatMap(({ exception: { mechanism } }) =>
    mechanism?.group?.isGroup === true ? [mechanism.group.id] : [],
  );
  const groups = new Set(ids);
  // Groups that share an id do not tell whose the members are, and each level of them would double the work.
  if (groups.size === 0 || groups.size < ids.length) return said.map(({ part }) => part);
  const holderOf = ({ exception: { mechanism } }: Said): number | null => {
    const parentId = mechanism?.group?.parentId ?? null;
    return parentId !== null && groups.has(parentId) ? parentId : null;
  };
  const ordered = (holder: number | null): readonly GroupingPart[] => {
    const blocks = said
      .filter((entry) => holderOf(entry) === holder)
      .map(({ exception: { mechanism }, part }) => [
        ...(mechanism?.group?.isGroup === true && mechanism.group.id !== holder ? ordered(mechanism.group.id) : []),
        part,
      ]);
    return (holder === null ? blocks : blocks.toSorted(byText)).flat();
  };
  const parts = ordered(null);
  // Members that hold each other are not in the tree: then all members count in the order in which they came.
  return parts.length === said.length ? parts : said.map(({ part }) => part);
}

function byText(a: readonly GroupingPart[], b: readonly GroupingPart[]): number {
  const [first, second] = [a, b].map((block) => block.map(({ lines }) => lines.join('\n')).join('\n\n'));
  return (first ?? '') < (second ?? '') ? -1 : 1;
}

interface ChainRules {
  readonly platform: string;
  readonly onlyInApp: boolean;
}

function exceptionPart(exception: ExceptionValue, { platform, onlyInApp }: ChainRules): GroupingPart {
  const type = typeIdentity(exception, platform);
  const frames = onlyInApp ? exception.frames.filter((frame) => isInApp(frame)) : exception.frames;
  const { lines: calls, isRaiserNamed } = stackIdentity(frames, platform);
  if (isRaiserNamed && !isWhereReported(exception, platform)) {
    return { strategy: 'exception', because: callsReason(type.length > 0, onlyInApp), lines: [...type, ...calls] };
  }
  if (frames.length === 0 && exception.frames.length > 0 && type.length > 0) {
    return { strategy: 'exception', because: 'the type of a cause raised outside the application', lines: type };
  }
  const value = textIdentity(valueToCount(exception, platform), platform);
  const said = value === null ? [] : [`value ${value}`];
  const because = isWhereReported(exception, platform)
    ? 'the message, and the calls that led to its report'
    : valueReason(calls.length > 0);
  return { strategy: 'exception', because, lines: [...type, ...calls, ...said] };
}

/** Returns the value without what an engine, a version of a language or a build puts into it. */
function valueToCount({ type, value }: ExceptionValue, platform: string): string | null {
  if (isScript(platform)) return plainEngineMessage(value ?? '').replace(MINIFIED_NAMES, '<name>');
  if (value === null) return null;
  return withoutRubyDetail(value, type).replace(...ANONYMOUS_CLASS_SAID);
}

/** Type names as Dart's compiler for the web shows them. */
const MINIFIED_NAMES = /\bminified:\w{1,40}/g;

/** Returns the line for the type. A name of one or two letters is a minifier's, and has none. */
function typeIdentity({ type, mechanism }: ExceptionValue, platform: string): readonly string[] {
  const name = mechanism?.synthetic === true ? null : stableType(type);
  if (name === null || (isScript(platform) && /^[\w$]{1,2}$/.test(name))) return [];
  return [`type ${isScript(platform) ? plainEngineType(name) : name}`];
}

/** Go's own errors, as `errors.New` and `fmt.Errorf` make them. */
const STACKLESS = /^\*(?:errors\.(?:errorString|joinError)|fmt\.wrapErrors?)$/;

/**
 * Whether the stack is only that of the report. An error of Go has none: its client adds that one. If a program reports
 * all its errors in one place and the type is everybody's (`*errors.errorString`), only the message tells them apart.
 */
function isWhereReported({ type, frames }: ExceptionValue, platform: string): boolean {
  return platform === 'go' && frames.length > 0 && type !== null && STACKLESS.test(type);
}

function callsReason(hasType: boolean, onlyInApp: boolean): string {
  const where = onlyInApp ? 'inside the application' : 'of the whole stack';
  return `${hasType ? 'the type and the calls' : 'the calls'} ${where}`;
}

function valueReason(hasCalls: boolean): string {
  return `the type and message of an exception ${hasCalls ? 'raised by a call that has no name' : 'without a stack'}`;
}

function threadPart(thread: EventThread | null, platform: string): GroupingPart | null {
  if (thread === null) return null;
  const because = thread.crashed ? 'the calls of the crashed thread' : 'the calls of the reporting thread';
  return callsPart('thread', because, thread.frames, platform);
}

function callsPart(
  strategy: GroupingStrategy,
  because: string,
  frames: readonly Frame[],
  platform: string,
): GroupingPart | null {
  const inApp = frames.filter((frame) => isInApp(frame));
  const { lines } = stackIdentity(inApp.length > 0 ? inApp : frames, platform);
  return lines.length === 0 ? null : { strategy, because, lines };
}

function messagePart(event: ExceptionEvent): GroupingPart {
  const text = textIdentity(event.messageTemplate ?? event.message, event.platform);
  if (text !== null) return { strategy: 'message', because: 'the message, its variables masked', lines: [text] };
  const scene = [event.platform, event.logger, event.transaction].filter((line) => line !== null);
  return { strategy: 'message', because: 'where an event without any message came from', lines: scene };
}

const LINES_COUNTED = 2;
const LINE_LENGTH_COUNTED = 500;
/** Limit on the characters read: far more than a line keeps once its variables are masked. */
const LINE_LENGTH_READ = 4_000;

/** Returns the first lines of a message without its variables; what follows is detail. Null when nothing is said. */
function textIdentity(text: string | null, platform: string): string | null {
  const lines = (text ?? '').split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));
  const counted = lines.filter((line) => line !== '').slice(0, LINES_COUNTED);
  const masked = counted.map((line) =>
    maskVariables(plainWording(line.slice(0, LINE_LENGTH_READ), platform), LINE_LENGTH_COUNTED),
  );
  return masked.length === 0 ? null : masked.join(' / ');
}
