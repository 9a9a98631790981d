import type { Level } from '#modules/exceptions/decide/level.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface Frame {
  readonly function: string | null;
  readonly module: string | null;
  /** Path as the client shows it, often relative to the project; `absPath` is the absolute one. */
  readonly filename: string | null;
  readonly absPath: string | null;
  readonly lineno: number | null;
  readonly colno: number | null;
  readonly contextLine: string | null;
  readonly preContext: readonly string[];
  readonly postContext: readonly string[];
  /** Whether the client marks the frame as application code; null if it did not say. `isInApp` of frames.ts decides. */
  readonly inApp: boolean | null;
  /** Local variables by name, without secrets; absent if none were sent. */
  readonly variables?: Readonly<Record<string, Json>> | undefined;
  /** Position in compiled code: its library and the offset in it, which is the same wherever the library was loaded. */
  readonly native?: NativePlace;
  /** Position in the code that ran, as the client sent it, if the frame was mapped to its source; absent otherwise. */
  readonly generated?: Pick<Frame, 'function' | 'filename' | 'absPath' | 'lineno' | 'colno'> | undefined;
}

export interface NativePlace {
  readonly package: string | null;
  /** Offset in the library, such as `0x1f30`; null when it is not known where the library was loaded. */
  readonly offset: string | null;
}

export interface Mechanism {
  readonly type: string | null;
  /** False if nothing in the application caught the exception; null if the client did not say. */
  readonly handled: boolean | null;
  /** Whether the client made the exception up to carry a stack, so its type means nothing. */
  readonly synthetic: boolean;
  /** Other data of the client about it, such as signals, error numbers and which exception is the cause of which. */
  readonly data?: Json | undefined;
  /** Ids of the exception and of the group that holds it, for groups of exceptions and their members. */
  readonly group?: { readonly id: number; readonly parentId: number | null; readonly isGroup: boolean };
}

export interface ExceptionValue {
  readonly type: string | null;
  readonly value: string | null;
  readonly module: string | null;
  readonly mechanism: Mechanism | null;
  /** Frames in the order sent: the outermost call first, the raising call last. Empty when there is no stack. */
  readonly frames: readonly Frame[];
  /** Id of the thread that raised it; absent if the client did not say. */
  readonly threadId?: string | undefined;
}

export interface EventThread {
  readonly id: string | null;
  readonly name: string | null;
  readonly crashed: boolean;
  readonly frames: readonly Frame[];
  /** State of the thread, such as `RUNNABLE`; absent if the client did not say. */
  readonly state?: string | undefined;
}

export interface Breadcrumb {
  /** Time in RFC 3339, or null: shown, never computed with. */
  readonly timestamp: string | null;
  readonly type: string | null;
  readonly category: string | null;
  readonly level: Level | null;
  readonly message: string | null;
  readonly data: Json;
}

export interface EventUser {
  readonly id: string | null;
  readonly email: string | null;
  readonly username: string | null;
  readonly ip: string | null;
  /** Other data that the client sent about the user. */
  readonly data?: Json | undefined;
}

/** A received error, in the same shape for every client. The decoder bounds every text and list in it. */
export interface ExceptionEvent {
  /** Id of 32 lower hex digits, unique in its service: a second event of the same id is the same event. */
  readonly eventId: string;
  /** Time of the error by the client's clock, or `receivedAt` if that clock cannot be right. */
  readonly at: Temporal.Instant;
  readonly receivedAt: Temporal.Instant;
  readonly level: Level;
  /** Platform in lower case: `python`, `javascript`, `node`, `go`, `java`, …; `other` when not said. */
  readonly platform: string;
  readonly environment: string | null;
  readonly release: string | null;
  readonly serverName: string | null;
  readonly transaction: string | null;
  readonly logger: string | null;
  readonly user: EventUser | null;
  readonly tags: Readonly<Record<string, string>>;
  /** The message as a person reads it. */
  readonly message: string | null;
  /** The message before its parameters were filled in (`order %s failed`), when the client sent it. */
  readonly messageTemplate: string | null;
  /** Exceptions in the order sent: the root cause first; the last is the one that reached the client. */
  readonly exceptions: readonly ExceptionValue[];
  /** The thread to show: the only crashed one, else the only current one, else the only one. */
  readonly thread: EventThread | null;
  /** Stack that was sent without an exception or a thread. */
  readonly stacktrace: readonly Frame[];
  /** Breadcrumbs, oldest first. */
  readonly breadcrumbs: readonly Breadcrumb[];
  readonly contexts: Json;
  readonly extra: Json;
  readonly request: Json;
  readonly sdk: { readonly name: string; readonly version: string | null } | null;
  /** The client's own grouping, empty when it sent none. See grouping.ts. */
  readonly fingerprint: readonly string[];
  /** Build of the release; absent if the client did not say, as are the fields below. */
  readonly dist?: string | undefined;
  /** Installed packages and their versions. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
  /** The threads besides `thread`, in the order in which they were sent. */
  readonly otherThreads?: readonly EventThread[] | undefined;
  /** Parts that were left out because the event was too large. */
  readonly trimmed?: readonly TrimmedPart[] | undefined;
  /** The debug ids of its source maps, by the path of the code as it stands in frames. */
  readonly debugIds?: Readonly<Record<string, string>> | undefined;
}

/** Parts that an oversized event loses, the least useful first. */
export const TRIMMED_PARTS = ['variables', 'context lines', 'breadcrumbs'] as const;
export type TrimmedPart = (typeof TRIMMED_PARTS)[number];

/** Serializes an event for storage, with times to the millisecond. `parseEvent` is its inverse. */
export function serializeEvent(event: ExceptionEvent): string {
  return JSON.stringify({ ...event, at: toTimestamp(event.at), receivedAt: toTimestamp(event.receivedAt) });
}

/** Parses the output of `serializeEvent`; it trusts its input. */
export function parseEvent(text: string): ExceptionEvent {
  const stored = JSON.parse(text) as Omit<ExceptionEvent, 'at' | 'receivedAt'> & { at: string; receivedAt: string };
  return { ...stored, at: Temporal.Instant.from(stored.at), receivedAt: Temporal.Instant.from(stored.receivedAt) };
}

/** Returns the exception that reached the client: the last of the chain. */
export function reportedException(event: ExceptionEvent): ExceptionValue | null {
  return event.exceptions.at(-1) ?? null;
}

/** Returns the stack of an exception: its own, else that of the thread to which it refers. */
export function framesOf(event: ExceptionEvent, { frames, threadId }: ExceptionValue): readonly Frame[] {
  if (frames.length > 0 || threadId === undefined) return frames;
  const threads = [...(event.thread === null ? [] : [event.thread]), ...(event.otherThreads ?? [])];
  return threads.find(({ id }) => id === threadId)?.frames ?? [];
}
