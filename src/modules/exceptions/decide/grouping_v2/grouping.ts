import { createHash } from 'node:crypto';

import type { EventThread, ExceptionEvent, ExceptionValue, Frame } from '#modules/exceptions/decide/event.ts';
import {
  fillVariables,
  hasOwnFingerprint,
  isDefaultEntry,
} from '#modules/exceptions/decide/grouping_v2/fingerprint.ts';
import { isInApp, stackIdentity } from '#modules/exceptions/decide/grouping_v2/frames.ts';
import { ANONYMOUS, stableModule } from '#modules/exceptions/decide/grouping_v2/generated_names.ts';
import { maskVariables } from '#modules/exceptions/decide/grouping_v2/masking.ts';

const VERSION = 2;

type GroupingStrategy = 'fingerprint' | 'exception' | 'thread' | 'stacktrace' | 'message';

interface GroupingPart {
  readonly strategy: GroupingStrategy;
  readonly lines: readonly string[];
}

/** Returns the key that version 2 gave the event. It never changes: see README.md. */
export function keyOfVersion2(event: ExceptionEvent): string {
  const parts = hasOwnFingerprint(event) ? fingerprintParts(event) : defaultParts(event);
  const hashed = [VERSION, parts.map((part) => [part.strategy, part.lines])];
  return createHash('sha256').update(JSON.stringify(hashed)).digest('hex').slice(0, 32);
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
            lines: [fillVariables(cutEntry(entry), event)],
          },
        ],
  );
}

/** Cuts an entry, as entries were cut when they were received. */
function cutEntry(entry: string): string {
  return entry.length > 200 ? `${entry.slice(0, 199).replace(/\p{Cs}$/u, '')}…` : entry;
}

function defaultParts(event: ExceptionEvent): readonly GroupingPart[] {
  const chain = isReportedMessage(event) ? [] : chainParts(event);
  if (chain.some((part) => part.lines.length > 0)) return chain;
  const isCrash = event.thread?.crashed === true || event.message === null;
  const stack = (isCrash ? threadPart(event.thread, event.platform) : null) ?? stacktracePart(event);
  return stack === null ? [messagePart(event)] : [stack];
}

/**
 * Whether it is a message to which the client added an exception of its own making, only to show where it was reported.
 * Several messages of one function would be one group if that stack counted.
 */
function isReportedMessage(event: ExceptionEvent): boolean {
  return event.message !== null && event.exceptions.every((exception) => exception.mechanism?.synthetic === true);
}

/**
 * Returns the parts of a chain of causes, root cause first, as sent. Causes with the same text, such as the members of
 * an aggregate, count once.
 */
function chainParts(event: ExceptionEvent): readonly GroupingPart[] {
  const frames = event.exceptions.flatMap((exception) => exception.frames);
  const onlyInApp = frames.some((frame) => isInApp(frame));
  const parts = event.exceptions.map((exception) => exceptionPart(exception, event.platform, onlyInApp));
  return [...new Map(parts.map((part) => [part.lines.join('\n'), part])).values()];
}

function exceptionPart(exception: ExceptionValue, platform: string, onlyInApp: boolean): GroupingPart {
  const name = exception.mechanism?.synthetic === true ? null : stableModule(exception.type);
  const type = name === null ? [] : [`type ${name}`];
  const calls = stackIdentity(
    onlyInApp ? exception.frames.filter((frame) => isInApp(frame)) : exception.frames,
    platform,
  );
  if (calls.some((line) => !line.endsWith(ANONYMOUS)) && !isWhereReported(exception, platform)) {
    return { strategy: 'exception', lines: [...type, ...calls] };
  }
  if (calls.length === 0 && exception.frames.length > 0 && type.length > 0) {
    return { strategy: 'exception', lines: type };
  }
  const value = textIdentity(exception.value);
  const said = value === null ? [] : [`value ${value}`];
  return { strategy: 'exception', lines: [...type, ...calls, ...said] };
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

function threadPart(thread: EventThread | null, platform: string): GroupingPart | null {
  if (thread === null) return null;
  return callsPart('thread', thread.frames, platform);
}

function stacktracePart(event: ExceptionEvent): GroupingPart | null {
  return callsPart('stacktrace', event.stacktrace, event.platform);
}

function callsPart(strategy: GroupingStrategy, frames: readonly Frame[], platform: string): GroupingPart | null {
  const inApp = frames.filter((frame) => isInApp(frame));
  const lines = stackIdentity(inApp.length > 0 ? inApp : frames, platform);
  return lines.length === 0 ? null : { strategy, lines };
}

function messagePart(event: ExceptionEvent): GroupingPart {
  const text = textIdentity(event.messageTemplate ?? event.message);
  if (text !== null) return { strategy: 'message', lines: [text] };
  const scene = [event.platform, event.logger, event.transaction].filter((line) => line !== null);
  return { strategy: 'message', lines: scene };
}

const LINES_COUNTED = 2;
const LINE_LENGTH_COUNTED = 500;
/** Limit on the characters read: far more than a line keeps once its variables are masked. */
const LINE_LENGTH_READ = 4_000;

/** Returns the first lines of a message without its variables; what follows is detail. Null when nothing is said. */
function textIdentity(text: string | null): string | null {
  const lines = (text ?? '').split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '));
  const counted = lines.filter((line) => line !== '').slice(0, LINES_COUNTED);
  const masked = counted.map((line) => maskVariables(line.slice(0, LINE_LENGTH_READ), LINE_LENGTH_COUNTED));
  return masked.length === 0 ? null : masked.join(' / ');
}
