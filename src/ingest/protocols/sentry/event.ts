import { createHash } from 'node:crypto';

import {
  asList,
  asObject,
  asPlainText,
  asText,
  asTextOrJson,
  boundedJson,
  withoutBound,
  type JsonObject,
  parseJson,
} from '#ingest/protocols/sentry/json.ts';
import { asExceptions, asFrames, asImages, asThreads } from '#ingest/protocols/sentry/stacks.ts';
import {
  asLevel,
  asMessage,
  asTags,
  asTimestamp,
  asUser,
  eventTime,
  PATH_LENGTH_MAX,
} from '#ingest/protocols/sentry/values.ts';
import { asModules, FrameVariables } from '#ingest/protocols/sentry/variables.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Breadcrumb, ExceptionEvent, TrimmedPart } from '#modules/exceptions/decide/event.ts';
import { debugIdOf } from '#modules/releases/decide/source_maps/upload_line.ts';

const NAME_LENGTH_MAX = 200;
/** Limit on the breadcrumbs; clients keep 100, unless they are configured to keep more. */
const BREADCRUMBS_MAX = 500;
const FINGERPRINT_MAX = 30;
const ENTRY_LENGTH_MAX = 1_000;

export interface EventContext {
  readonly eventId: string;
  readonly receivedAt: Temporal.Instant;
  /** Address from which the request came, for users whose address is `{{auto}}`. */
  readonly clientIp: string | null;
  /** Name of the client, such as `sentry.go/0.11.0`, for events that do not name it. */
  readonly client: string | null;
  /** The span of the request; absent when nothing is traced. Workers of a release that does not know it ignore it. */
  readonly traceparent?: string;
  /** Lead of the sender's clock in milliseconds; absent if it is right. */
  readonly clockOffsetMs?: number;
  /** Parts removed from the payload because the event was too large. */
  readonly trimmed?: readonly TrimmedPart[];
}

export interface SentEvent {
  readonly context: EventContext;
  /** Payload: JSON, unless its client sends anything else. */
  readonly payload: Buffer;
}

/** Reason why something sent as an event is not one. */
export type NoEvent = 'malformed' | 'not_an_exception';

/** Converts an event as sent into our own; see `toExceptionEvent`. */
export function readEvent({ context, payload }: SentEvent): ExceptionEvent | NoEvent {
  const event = parsePayload(payload);
  return typeof event === 'string' ? event : toExceptionEvent(event, context);
}

/** The client's own words. */
function parsePayload(payload: Buffer): JsonObject | NoEvent {
  const event = asObject(parseJson(payload));
  if (event === null) return 'malformed';
  return event['type'] === 'transaction' ? 'not_an_exception' : event;
}

const BLANKS: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const [OPENING, CLOSING] = [0x7b, 0x7d];

/** Whether the bytes begin and end like a JSON object: true of everything that clients send unless it was cut off. */
export function seemsObject(payload: Buffer): boolean {
  let end = payload.length - 1;
  while (BLANKS.has(payload[end])) end -= 1;
  let start = payload[0] === 0xef ? BYTE_ORDER_MARK_BYTES : 0;
  while (BLANKS.has(payload[start])) start += 1;
  return payload[start] === OPENING && payload[end] === CLOSING;
}

const BYTE_ORDER_MARK_BYTES = 3;

/**
 * Converts an event of any client into our own. Whatever its shape it becomes an event: a field that cannot be
 * understood is treated as not sent.
 */
function toExceptionEvent(payload: JsonObject, context: EventContext): ExceptionEvent {
  const message = asMessage(payload['message'], payload['logentry'] ?? payload['sentry.interfaces.Message']);
  const sdk = asObject(payload['sdk']);
  const variables = new FrameVariables();
  const images = asImages(payload['debug_meta']);
  const exceptions = asExceptions(payload['exception'] ?? payload['sentry.interfaces.Exception'], variables, images);
  const { at, offsetMs } = eventTime(payload['timestamp'], context.receivedAt, context.clockOffsetMs);
  const infersIp = asObject(sdk?.['settings'])?.['infer_ip'] === 'auto';
  return {
    eventId: context.eventId,
    at,
    receivedAt: context.receivedAt,
    level: asLevel(payload['level']) ?? 'error',
    platform: asText(payload['platform'], 64)?.trim().toLowerCase() ?? 'other',
    environment: asText(payload['environment'], NAME_LENGTH_MAX),
    release: asText(payload['release'], NAME_LENGTH_MAX)?.trim() ?? null,
    serverName: asText(payload['server_name'], NAME_LENGTH_MAX),
    transaction: asPlainText(payload['transaction'] ?? payload['culprit'], NAME_LENGTH_MAX),
    logger: asText(payload['logger'], NAME_LENGTH_MAX),
    user: asUser(payload['user'] ?? payload['sentry.interfaces.User'], context.clientIp, infersIp),
    tags: asTags(payload['tags']),
    message: message.text,
    messageTemplate: message.template,
    exceptions,
    ...asThreads(payload['threads'], variables, images, exceptions.at(-1)?.threadId),
    stacktrace: asFrames(payload['stacktrace'] ?? payload['sentry.interfaces.Stacktrace'], variables, images),
    breadcrumbs: asList(payload['breadcrumbs'])
      .slice(-BREADCRUMBS_MAX)
      .map((crumb) => asBreadcrumb(crumb, offsetMs))
      .filter((crumb) => crumb !== null),
    contexts: boundedJson(payload['contexts']),
    extra: boundedJson(payload['extra']),
    request: boundedJson(payload['request'] ?? payload['sentry.interfaces.Http']),
    sdk: asSdk(sdk, context.client),
    fingerprint: asFingerprint(payload['fingerprint']),
    dist: asText(payload['dist'], NAME_LENGTH_MAX) ?? undefined,
    modules: asModules(payload['modules']),
    trimmed: context.trimmed,
    debugIds: asDebugIds(payload['debug_meta']),
  };
}

function asBreadcrumb(value: unknown, offsetMs: number): Breadcrumb | null {
  const crumb = asObject(value);
  if (crumb === null) return null;
  const data = asObject(crumb['data']);
  return {
    timestamp: asTimestamp(crumb['timestamp'], offsetMs),
    type: asText(crumb['type'], 50),
    category: asText(crumb['category'], NAME_LENGTH_MAX),
    level: asLevel(crumb['level']),
    message: asTextOrJson(crumb['message'], 1_000),
    data: boundedJson(data === null ? crumb['data'] : withoutBound(data, crumb['message'])),
  };
}

function asSdk(sdk: JsonObject | null, client: string | null): ExceptionEvent['sdk'] {
  const name = asText(sdk?.['name'], 100);
  if (name !== null) return { name, version: asText(sdk?.['version'], 50) };
  const [clientName = '', version = ''] = (client ?? '').split('/');
  const named = asText(clientName, 100);
  return named === null ? null : { name: named, version: asText(version, 50) };
}

/** Mostly a list; some clients send one text. */
function asFingerprint(value: unknown): readonly string[] {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [value];
  return entries
    .slice(0, FINGERPRINT_MAX)
    .map(asFingerprintEntry)
    .filter((entry) => entry !== null);
}

/**
 * Returns a fingerprint entry; a digest replaces the end of one that is too long, so that two that differ there stay
 * distinct.
 */
function asFingerprintEntry(value: unknown): string | null {
  if (typeof value !== 'string' || value.length <= ENTRY_LENGTH_MAX) return asPlainText(value, ENTRY_LENGTH_MAX);
  const digest = createHash('sha256').update(value).digest('hex').slice(0, 32);
  return `${asPlainText(value, ENTRY_LENGTH_MAX) ?? ''}${digest}`;
}

const IMAGES_MAX = 200;

/** The debug ids of source maps by the path of their code. Undefined when there is none; images of native code are not. */
function asDebugIds(debugMeta: unknown): Readonly<Record<string, string>> | undefined {
  const images = asList(asObject(debugMeta)?.['images']).slice(0, IMAGES_MAX).map(asObject);
  const debugIds = images.flatMap((image): [string, string][] => {
    if (image === null || image['type'] !== 'sourcemap') return [];
    const [path, debugId] = [image['code_file'], debugIdOf(image['debug_id'])];
    const isPath = typeof path === 'string' && path !== '' && path.length <= PATH_LENGTH_MAX;
    return isPath && debugId !== null ? [[path, debugId]] : [];
  });
  return debugIds.length === 0 ? undefined : Object.fromEntries(debugIds);
}
