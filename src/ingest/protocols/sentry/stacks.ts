import { asList, asObject, asPlainText, asText, asTextOrJson, type JsonObject } from '#ingest/protocols/sentry/json.ts';
import { PATH_LENGTH_MAX } from '#ingest/protocols/sentry/values.ts';
import { NO_VARIABLES, type VariableReader, withoutKnown } from '#ingest/protocols/sentry/variables.ts';
import { KnownTexts } from '#kernel/string_interner.ts';
import type { EventThread, ExceptionValue, Frame, Mechanism } from '#modules/exceptions/decide/event.ts';
import { withoutSecrets, withoutTokens } from '#modules/exceptions/decide/secrets.ts';

/** A crash brings every thread of its process. */
const THREADS_MAX = 1_000;
const EXCEPTIONS_MAX = 30;
/** Limit on the frames of a whole chain, and minimum kept for each exception whatever the others have. */
const FRAMES_MAX = 1_000;
const FRAMES_LEAST = 10;
const FRAMES_OUTER_MAX = 30;
const FRAMES_INNER_MAX = 90;
const NAME_LENGTH_MAX = 256;
const LINE_LENGTH_MAX = 512;
/** Limit on the context lines; clients send 5 or 7 on each side. */
const CONTEXT_LINES_MAX = 20;
const VALUE_LENGTH_MAX = 8_192;

/**
 * The chain, root cause first: as sent, unless the exceptions refer to each other in another order. An entry that says
 * nothing is left out; of a very long chain the ends stay. The exception that reached the client keeps its variables
 * first.
 */
export function asExceptions(
  value: unknown,
  variables: VariableReader,
  images: readonly NativeImage[] = [],
): readonly ExceptionValue[] {
  const entries = inCausalOrder(asList(value))
    .toReversed()
    .map((entry) => asException(entry, variables, images))
    .filter((exception) => exception !== null)
    .toReversed();
  if (entries.length <= EXCEPTIONS_MAX) return withFewerFrames(entries);
  return withFewerFrames([...entries.slice(0, EXCEPTIONS_MAX / 2), ...entries.slice(-EXCEPTIONS_MAX / 2)]);
}

/** Drops frames of a chain that has too many; the exceptions nearest to the report keep theirs. */
function withFewerFrames(chain: readonly ExceptionValue[]): readonly ExceptionValue[] {
  let left = FRAMES_MAX;
  const kept = chain.toReversed().map((exception): ExceptionValue => {
    const frames = exception.frames.slice(-Math.max(left, FRAMES_LEAST));
    left -= frames.length;
    return frames.length === exception.frames.length ? exception : { ...exception, frames };
  });
  return kept.toReversed();
}

function asException(
  value: unknown,
  variables: VariableReader,
  images: readonly NativeImage[] = [],
): ExceptionValue | null {
  const object = asObject(value);
  if (object === null) {
    const text = asPlainText(value, VALUE_LENGTH_MAX);
    return text === null ? null : { type: null, value: text, module: null, mechanism: null, frames: [] };
  }
  const exception = {
    type: asText(object['type'], NAME_LENGTH_MAX),
    value: asTextOrJson(object['value'], VALUE_LENGTH_MAX),
    module: asText(object['module'], NAME_LENGTH_MAX),
    mechanism: asMechanism(object['mechanism']),
    frames: asFrames(object['stacktrace'] ?? object['raw_stacktrace'], variables, images),
    threadId: asText(object['thread_id'], NAME_LENGTH_MAX) ?? undefined,
  };
  const saysNothing = exception.type === null && exception.value === null && exception.frames.length === 0;
  return saysNothing ? null : exception;
}

/**
 * Sorts each exception before the one that it belongs to, by `exception_id` and `parent_id`. Entries in that order
 * already stay as they are, and so does a chain in which some have no id, or form a cycle.
 */
function inCausalOrder(entries: readonly unknown[]): readonly unknown[] {
  const places = new Map<unknown, number>();
  const parents = entries.map((entry, at): unknown => {
    const mechanism = asObject(asObject(entry)?.['mechanism']);
    const id = mechanism?.['exception_id'];
    if (typeof id === 'number') places.set(id, at);
    return mechanism?.['parent_id'];
  });
  const parentOf = (at: number): number | undefined => places.get(parents[at]);
  const isOrdered = entries.every((_, at) => (parentOf(at) ?? entries.length) > at);
  if (isOrdered || places.size < entries.length) return entries;
  const children = Map.groupBy(entries.keys(), parentOf);
  const ordered: unknown[] = [];
  // The parent first, so that a chain of any length is walked without recursion; reversed in the end.
  const waiting = [...(children.get(undefined) ?? [])].toReversed();
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    ordered.push(entries[at]);
    waiting.push(...(children.get(at) ?? []).toReversed());
  }
  return ordered.length === entries.length ? ordered.toReversed() : entries;
}

/** Names of mechanism fields that have fields of their own in our events. */
const MECHANISM_NAMES: ReadonlySet<string> = new Set(['type', 'handled', 'synthetic']);

function asMechanism(value: unknown): Mechanism | null {
  const object = asObject(value);
  if (object === null)
    return typeof value === 'string' ? { type: asText(value, 100), handled: null, synthetic: false } : null;
  const handled = object['handled'];
  return {
    type: asText(object['type'], 100),
    handled: typeof handled === 'boolean' ? handled : null,
    synthetic: object['synthetic'] === true,
    data: withoutKnown(object, MECHANISM_NAMES),
    ...asMember(object),
  };
}

/** Returns the place of an exception within its group; empty if it belongs to none. */
function asMember(mechanism: JsonObject): Pick<Mechanism, 'group'> {
  const [id, parentId] = [mechanism['exception_id'], mechanism['parent_id']];
  if (typeof id !== 'number' || (mechanism['is_exception_group'] !== true && typeof parentId !== 'number')) return {};
  const isGroup = mechanism['is_exception_group'] === true;
  return { group: { id, parentId: typeof parentId === 'number' ? parentId : null, isGroup } };
}

/** A stack is `{ frames: […] }` or a bare list of frames, the outermost call first. */
export function asFrames(
  stacktrace: unknown,
  variables: VariableReader,
  images: readonly NativeImage[] = [],
): readonly Frame[] {
  const entries = listedFrames(stacktrace)
    .map(asObject)
    .filter((frame) => frame !== null);
  const isLong = entries.length > FRAMES_OUTER_MAX + FRAMES_INNER_MAX;
  const kept = isLong ? [...entries.slice(0, FRAMES_OUTER_MAX), ...entries.slice(-FRAMES_INNER_MAX)] : entries;
  // The raising call keeps its variables first.
  return kept
    .toReversed()
    .map((frame) => asFrame(frame, variables, images))
    .toReversed();
}

function listedFrames(stacktrace: unknown): readonly unknown[] {
  return asList(Array.isArray(stacktrace) ? stacktrace : asObject(stacktrace)?.['frames']);
}

function asFrame(frame: JsonObject, variables: VariableReader, images: readonly NativeImage[] = []): Frame {
  const inApp = frame['in_app'];
  return {
    function: asText(frame['function'] ?? frame['raw_function'], NAME_LENGTH_MAX),
    module: asText(frame['module'], NAME_LENGTH_MAX),
    filename: asPath(frame['filename']),
    absPath: asPath(frame['abs_path']),
    lineno: asLineNumber(frame['lineno']),
    colno: asLineNumber(frame['colno']),
    contextLine: asLine(frame['context_line']),
    preContext: asLines(frame['pre_context']).slice(-CONTEXT_LINES_MAX),
    postContext: asLines(frame['post_context']).slice(0, CONTEXT_LINES_MAX),
    inApp: typeof inApp === 'boolean' ? inApp : null,
    ...asNativePlace(frame, images),
    variables: variables.read(frame['vars']),
  };
}

/** Returns the path; an address, which may carry its reader's credentials, without them. */
function asPath(value: unknown): string | null {
  const path = asText(value, PATH_LENGTH_MAX);
  return path !== null && /[?@]/.test(path) ? withoutSecrets(path) : path;
}

function asLineNumber(value: unknown): number | null {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null;
}

const knownLines = new KnownTexts();

/** Lines of source are the same in each event of a group. */
function asLine(value: unknown): string | null {
  if (typeof value !== 'string') return readLine(value);
  if (knownLines.has(value)) return value;
  const line = readLine(value);
  return line === null ? null : knownLines.addIfSame(value, line);
}

/** An empty line is a line. Ruby's clients send the ends of lines too. */
function readLine(value: unknown): string | null {
  const line = typeof value === 'string' ? value.replace(/\r?\n$/, '') : value;
  const text = line === '' ? '' : asText(line, LINE_LENGTH_MAX);
  return text === null ? null : withoutTokens(text);
}

function asLines(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((line: unknown) => asLine(line) ?? '') : [];
}

interface EventThreads {
  readonly thread: EventThread | null;
  readonly otherThreads: readonly EventThread[] | undefined;
}

/** Limits on the other threads, which are only shown beside the exception. */
const OTHER_THREADS_MAX = 200;
const OTHER_FRAMES_MAX = 2_000;
const OTHER_FRAMES_EACH_MAX = 60;

/**
 * The one thread that tells the story: the one to which the exception refers, else the only crashed one, else the only
 * current one, else the only one with a stack; null when several could. And all others, without code.
 */
export function asThreads(
  value: unknown,
  variables: VariableReader,
  images: readonly NativeImage[] = [],
  raisedBy?: string,
): EventThreads {
  const threads = asList(value)
    .map(asObject)
    .filter((thread) => thread !== null)
    .slice(0, THREADS_MAX);
  const raising = threads.find((thread) => isNamed(thread, raisedBy)) ?? mainThreadOf(threads);
  const others = threads.filter((thread) => thread !== raising).slice(0, OTHER_THREADS_MAX);
  let left = OTHER_FRAMES_MAX;
  const otherThreads = others.map((thread) => {
    const frames = listedFrames(thread['stacktrace']).map(asObject);
    const kept = frames.filter((frame) => frame !== null).slice(-Math.min(left, OTHER_FRAMES_EACH_MAX));
    const read = left <= 0 ? [] : kept.map((frame) => asFrame(withoutCode(frame), NO_VARIABLES));
    left -= read.length;
    return asThread(thread, read);
  });
  return {
    thread: raising === null ? null : asThread(raising, asFrames(raising['stacktrace'], variables, images)),
    otherThreads: otherThreads.length === 0 ? undefined : otherThreads,
  };
}

function isNamed(thread: JsonObject, id: string | undefined): boolean {
  return id !== undefined && asText(thread['id'], NAME_LENGTH_MAX) === id;
}

function mainThreadOf(threads: readonly JsonObject[]): JsonObject | null {
  const crashed = threads.filter((thread) => thread['crashed'] === true);
  const current = threads.filter((thread) => thread['current'] === true);
  const withStack = threads.filter((thread) =>
    listedFrames(thread['stacktrace']).some((frame) => asObject(frame) !== null),
  );
  const [thread, ...others] = [crashed, current, withStack].find((candidates) => candidates.length > 0) ?? [];
  return thread === undefined || others.length > 0 ? null : thread;
}

function asThread(thread: JsonObject, frames: readonly Frame[]): EventThread {
  return {
    id: asText(thread['id'], NAME_LENGTH_MAX),
    name: asText(thread['name'], NAME_LENGTH_MAX),
    crashed: thread['crashed'] === true,
    frames,
    state: asText(thread['state'], 50) ?? undefined,
  };
}

function withoutCode(frame: JsonObject): JsonObject {
  return { ...frame, context_line: null, pre_context: null, post_context: null };
}

/** A library of compiled code, where its process had loaded it. */
interface NativeImage {
  readonly address: bigint;
  /** Size of the image; null if the client does not send it. */
  readonly size: bigint | null;
  readonly file: string | null;
}

const IMAGES_MAX = 300;

/** The libraries that a client lists as `debug_meta`, by address. */
export function asImages(debugMeta: unknown): readonly NativeImage[] {
  return asList(asObject(debugMeta)?.['images'])
    .slice(0, IMAGES_MAX)
    .flatMap((entry): NativeImage[] => {
      const image = asObject(entry);
      const address = asAddress(image?.['image_addr']);
      if (image === null || address === null) return [];
      const file = asText(image['code_file'] ?? image['name'], PATH_LENGTH_MAX);
      return [{ address, size: asAddress(image['image_size']), file }];
    })
    .toSorted((a, b) => (a.address < b.address ? -1 : 1));
}

/** Returns the location of compiled code, for a frame that gives an address. */
function asNativePlace(frame: JsonObject, images: readonly NativeImage[]): Pick<Frame, 'native'> {
  const at = asAddress(frame['instruction_addr']);
  const library = asText(frame['package'], PATH_LENGTH_MAX);
  if (at === null) return {};
  const image = images.findLast(({ address, size }) => address <= at && (size === null || at < address + size));
  const base = asAddress(frame['image_addr']) ?? image?.address ?? null;
  const offset = base !== null && base <= at ? `0x${(at - base).toString(16)}` : null;
  return { native: { package: library ?? image?.file ?? null, offset } };
}

/** Parses an address: `0x7f3a10`, or a number; null for anything else. */
function asAddress(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  return typeof value === 'string' && /^(?:0x[0-9a-fA-F]{1,16}|\d{1,19})$/.test(value) ? BigInt(value) : null;
}
