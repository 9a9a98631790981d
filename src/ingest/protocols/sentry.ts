import { randomUUID } from 'node:crypto';

import { INGEST_PATHS } from '#kernel/api_paths.ts';
import type { Temporal } from '#kernel/time.ts';

import {
  parseDsn,
  sentryClientOf,
  sentryKeyOf,
  sentryTimeOf,
  type Headers,
  type Query,
} from '#ingest/protocols/sentry/auth.ts';
import { inSlices, type Steps } from '#kernel/cooperative_task.ts';
import { readHead } from '#ingest/protocols/sentry/bounded_json.ts';
import { readCheckIn, type SentCheckIn } from '#ingest/protocols/sentry/check_ins.ts';
import {
  type EnvelopeItem,
  type Inflate,
  notSentry,
  plainBody,
  readEnvelope,
} from '#ingest/protocols/sentry/envelope.ts';
import { type NoEvent, seemsObject, type SentEvent } from '#ingest/protocols/sentry/event.ts';
import { asObject, asText, type JsonObject } from '#ingest/protocols/sentry/json.ts';
import {
  readSession,
  readSessionAggregates,
  type SentOutcome,
  type SentSessions,
} from '#ingest/protocols/sentry/sessions.ts';
import {
  ATTACHMENT_BYTES_MAX,
  itemCountOf,
  type NotKept,
  readAttachment,
  readClientReport,
  readFeedback,
  type SentAttachment,
  type SentFeedback,
} from '#ingest/protocols/sentry/side_items.ts';
import { METRICS_BYTES_MAX, readTraceMetrics, type SentMetric } from '#ingest/protocols/sentry/trace_metrics.ts';
import { trimEvent } from '#ingest/protocols/sentry/trim_event.ts';
import { securityEvents } from '#ingest/protocols/sentry/security_reports.ts';
import { asEventId, clockOffsetMs } from '#ingest/protocols/sentry/values.ts';

export interface SentryRequest {
  /** Kind of request, by the last segment of the path. */
  readonly kind: 'envelope' | 'store' | 'security' | 'minidump';
  /** Names in lower case. */
  readonly headers: Headers;
  readonly query: Query;
  readonly body: Buffer;
  /** Address of the client; null if it is not to be kept. */
  readonly clientIp: string | null;
  readonly receivedAt: Temporal.Instant;
}

/** Limits for the `inflate` that the caller provides. */
export const SENTRY_BODY_LIMITS = { compressedBytesMax: 20 * 1024 * 1024, inflatedBytesMax: 100 * 1024 * 1024 };

/** Pattern of the project id in the addresses that a Sentry SDK derives from a DSN. */
export const SENTRY_PROJECT_PATTERN = String.raw`^\d{1,16}$`;

interface SentryEndpoint {
  readonly kind: SentryRequest['kind'];
  readonly path: string;
  readonly summary: string;
  readonly mediaType: string;
}

export const SENTRY_ENDPOINTS: readonly SentryEndpoint[] = [
  {
    kind: 'envelope',
    path: INGEST_PATHS.sentry_envelope,
    summary: "Send exceptions as Sentry's SDKs do",
    mediaType: 'application/x-sentry-envelope',
  },
  {
    kind: 'store',
    path: INGEST_PATHS.sentry_store,
    summary: "Send one exception as Sentry's older clients do",
    mediaType: 'application/json',
  },
  {
    kind: 'security',
    path: INGEST_PATHS.sentry_security,
    summary: "Send a browser's reports of a content security policy",
    mediaType: 'application/csp-report',
  },
  {
    kind: 'security',
    path: INGEST_PATHS.sentry_csp_report,
    summary: "Send a browser's reports of a content security policy to Sentry's other address",
    mediaType: 'application/csp-report',
  },
  {
    kind: 'security',
    path: INGEST_PATHS.sentry_nel,
    summary: "Report errors of a browser's network, which are counted and not kept",
    mediaType: 'application/reports+json',
  },
  {
    kind: 'minidump',
    path: INGEST_PATHS.sentry_unreal,
    summary: 'Report a crash of the Unreal Engine, which is counted and not kept',
    mediaType: 'application/octet-stream',
  },
  {
    kind: 'minidump',
    path: INGEST_PATHS.sentry_minidump,
    summary: 'Report a memory dump of a native program, which is counted and not kept',
    mediaType: 'multipart/form-data',
  },
];

interface SentryLimits {
  /** Limit on one event as JSON, after the least useful parts of a larger one were removed. */
  readonly eventBytesMax: number;
  readonly eventsMax: number;
}

const LARGE_BYTES = 64 * 1024;
/** Limit on a session, a report or a feedback: real ones have a few hundred bytes. */
const BESIDE_BYTES_MAX = 64 * 1024;
const BESIDE_TYPES: ReadonlySet<string> = new Set([
  'session',
  'sessions',
  'client_report',
  'user_report',
  'feedback',
  'check_in',
]);
/** Types of items that clients send with files. */
const HAS_FILES: ReadonlySet<string> = new Set(['event', 'transaction', 'feedback', 'user_report']);
/** Limits on events: real envelopes hold one; more of them only keep the process from its other work. */
const SENTRY_LIMITS: SentryLimits = { eventBytesMax: 1024 * 1024, eventsMax: 10 };

type DropReason = NoEvent | 'too_large' | 'too_many' | 'rate_limited';

/** A user's words, files and check-ins of one request. */
const EXTRAS_MAX = 20;

interface DroppedItem {
  /** The item's type as its client calls it. */
  readonly type: string;
  readonly reason: DropReason;
  readonly count: number;
}

/** Items sent with events, or without any. */
export interface BesidesEvents {
  readonly sessions: readonly SentSessions[];
  readonly outcomes: readonly SentOutcome[];
  /** Items that the client reports as not sent. */
  readonly discarded: readonly NotKept[];
  readonly feedback: readonly SentFeedback[];
  readonly checkIns: readonly SentCheckIn[];
  readonly metrics: readonly SentMetric[];
  /** Attachments of the event that is answered, or of the feedback if no event came with it. */
  readonly attachments: readonly SentAttachment[];
}

/** Contents of a request. The key has not been checked yet. */
export interface SentryDelivery {
  /** Public key; null if the request carries none: 401. */
  readonly publicKey: string | null;
  /**
   * Project id from the envelope's `dsn`, which says where a tunnelled request belongs; the caller knows that of the
   * path.
   */
  readonly projectId: string | null;
  /** Id for the response `{ "id": … }`: the first event's, or the envelope's, or a new one. */
  readonly eventId: string;
  /** Events as sent and unread: one may turn out to be none when it is read. */
  readonly events: readonly SentEvent[];
  /** Items that are not kept, such as transactions, with a reason. */
  readonly dropped: readonly DroppedItem[];
  readonly besides: BesidesEvents;
}

/**
 * Reads a request of any Sentry client. Throws AppError only for a body that is no envelope and no event at all
 * (`invalid_input`), and whatever `inflate` throws; an item that cannot be read is dropped, an event never fails for
 * its shape.
 */
export async function decodeSentryRequest(
  request: SentryRequest,
  inflate: Inflate,
  limits: SentryLimits = SENTRY_LIMITS,
): Promise<SentryDelivery> {
  const encoding = request.headers['content-encoding'];
  // Nothing of a memory dump is read.
  const isDump = request.kind === 'minidump';
  const body = isDump
    ? Buffer.alloc(0)
    : await plainBody(request.body, typeof encoding === 'string' ? encoding : undefined, inflate);
  const isEnvelope = request.kind === 'envelope';
  const { header, items, isCut } = isEnvelope
    ? readEnvelope(body)
    : { header: {}, ...itemsOf(request, body), isCut: false };
  const dsn = parseDsn(header['dsn']);
  const reader = new EventReader(request, limits, asEventId(header['event_id']), header);
  for (const item of items) await reader.read(item);
  if (isCut) reader.drop('unknown', 'too_many');
  reader.dropFilesOfOthers();
  if (!isEnvelope && reader.dropped.some((item) => item.reason === 'malformed')) throw notSentry('JSON object');
  return {
    publicKey: sentryKeyOf(request.headers, request.query) ?? dsn?.publicKey ?? null,
    projectId: dsn?.projectId ?? null,
    eventId: reader.answeredId(),
    events: reader.events,
    dropped: reader.dropped,
    besides: reader.besides,
  };
}

function itemsOf({ kind, query }: SentryRequest, body: Buffer): { items: EnvelopeItem[] } {
  const toItem = (payload: Buffer): EnvelopeItem => ({ type: 'event', header: {}, payload });
  if (kind === 'minidump') return { items: [{ type: kind, header: {}, payload: body }] };
  if (kind !== 'security') return { items: [toItem(body)] };
  const [release, environment] = [asText(query['sentry_release'], 200), asText(query['sentry_environment'], 200)];
  const { events, others } = securityEvents(body, release, environment);
  const left = { type: 'browser_report', header: { item_count: others }, payload: body };
  return { items: [...events.map(toItem), ...(others > 0 ? [left] : [])] };
}

/** Items become events one by one; the envelope's id belongs to the first of them. */
class EventReader {
  readonly events: SentEvent[] = [];
  readonly dropped: DroppedItem[] = [];
  readonly besides = {
    sessions: [] as SentSessions[],
    outcomes: [] as SentOutcome[],
    discarded: [] as NotKept[],
    feedback: [] as SentFeedback[],
    checkIns: [] as SentCheckIn[],
    metrics: [] as SentMetric[],
    attachments: [] as SentAttachment[],
  };
  readonly #request: SentryRequest;
  readonly #limits: SentryLimits;
  readonly #envelopeId: string | null;
  readonly #client: string | null;
  readonly #clockOffsetMs: number;

  constructor(request: SentryRequest, limits: SentryLimits, envelopeId: string | null, header: JsonObject) {
    this.#request = request;
    this.#limits = limits;
    this.#envelopeId = envelopeId;
    const sentAt = header['sent_at'] ?? sentryTimeOf(request.headers, request.query);
    this.#clockOffsetMs = clockOffsetMs(sentAt, request.receivedAt);
    const sdk = asObject(header['sdk']);
    const name = asText(sdk?.['name'], 100);
    const named = name === null ? null : `${name}/${asText(sdk?.['version'], 50) ?? ''}`;
    this.#client = named ?? sentryClientOf(request.headers, request.query);
  }

  async read(item: EnvelopeItem): Promise<void> {
    if (item.type !== 'event') return this.#readBeside(item);
    if (this.events.length >= this.#limits.eventsMax) return this.drop(item.type, 'too_many');
    // Parsing is most of the work, and the worker's: what is none turns out there.
    if (!seemsObject(item.payload)) return this.drop(item.type, 'malformed');
    const givenId = this.events.length === 0 ? this.#envelopeId : null;
    const head = givenId === null ? await inSlices(headOf(item.payload)) : {};
    if (head['type'] === 'transaction') return this.drop('transaction', 'not_an_exception');
    const fitting = await inSlices(trimEvent(item.payload, this.#limits.eventBytesMax));
    if (fitting === null) return this.drop(item.type, 'too_large');
    const { receivedAt, clientIp } = this.#request;
    const eventId = givenId ?? asEventId(head['event_id']) ?? newEventId();
    const clock = this.#clockOffsetMs === 0 ? {} : { clockOffsetMs: this.#clockOffsetMs };
    const context = { eventId, receivedAt, clientIp, client: this.#client, ...clock };
    const { payload, trimmed } = fitting;
    this.events.push({
      context: trimmed === null ? context : { ...context, trimmed },
      payload: withoutTheRest(payload),
    });
  }

  #readBeside({ type, header, payload }: EnvelopeItem): void {
    const { sessions, outcomes, discarded, feedback, checkIns, attachments } = this.besides;
    if (payload.length > BESIDE_BYTES_MAX && BESIDE_TYPES.has(type)) return this.drop(type, 'too_large');
    switch (type) {
      case 'session': {
        const update = readSession(payload);
        if (update === null) return this.drop(type, 'malformed');
        sessions.push(...update.counts);
        return void outcomes.push(...update.outcomes);
      }
      case 'sessions': {
        const counted = readSessionAggregates(payload);
        return counted === null ? this.drop(type, 'malformed') : void sessions.push(counted);
      }
      case 'client_report': {
        const report = readClientReport(payload);
        return report === null ? this.drop(type, 'malformed') : void discarded.push(...report);
      }
      case 'user_report':
      case 'feedback': {
        const read = readFeedback(type, payload, this.#envelopeId);
        if (read === null) return this.drop(type, 'malformed');
        if (feedback.length >= EXTRAS_MAX) return this.drop(type, 'too_many');
        return void feedback.push(read);
      }
      case 'check_in': {
        const read = readCheckIn(payload);
        if (read === null) return this.drop(type, 'malformed');
        if (checkIns.length >= EXTRAS_MAX) return this.drop(type, 'too_many');
        return void checkIns.push(read);
      }
      case 'trace_metric': {
        if (payload.length > METRICS_BYTES_MAX) return this.drop(type, 'too_large', itemCountOf(header, payload));
        const read = readTraceMetrics(payload, this.#clockOffsetMs, this.#request.receivedAt.epochMilliseconds);
        if (read === null) return this.drop(type, 'malformed', itemCountOf(header, payload));
        if (read.beyond > 0) this.drop(type, 'too_many', read.beyond);
        if (read.faulty > 0) this.drop(type, 'malformed', read.faulty);
        return void this.besides.metrics.push(...read.metrics);
      }
      case 'attachment':
        if (attachments.length >= EXTRAS_MAX) return this.drop(type, 'too_many');
        if (payload.length > ATTACHMENT_BYTES_MAX) return this.drop(type, 'too_large');
        return void attachments.push(readAttachment(header, payload));
      default:
        return this.drop(type, 'not_an_exception', itemCountOf(header, payload));
    }
  }

  drop(type: string, reason: DropReason, count = 1): void {
    this.dropped.push({ type, reason, count });
  }

  /** Drops files of what is not kept itself, such as a transaction: nothing would show them. */
  dropFilesOfOthers(): void {
    const { feedback, attachments } = this.besides;
    if (this.events.length > 0 || feedback.length > 0 || !this.dropped.some(({ type }) => HAS_FILES.has(type))) return;
    if (attachments.length > 0) this.drop('attachment', 'not_an_exception', attachments.length);
    attachments.length = 0;
  }

  answeredId(): string {
    return this.events[0]?.context.eventId ?? this.#envelopeId ?? newEventId();
  }
}

/** Looked at by itself, so that others have their turn between many. */
function* headOf(payload: Buffer): Steps<JsonObject> {
  const head = readHead(payload);
  if (payload.length > LARGE_BYTES) yield;
  return head;
}

/** A small part of a large request keeps not all of it in memory. */
function withoutTheRest(payload: Buffer): Buffer {
  return payload.length * 2 < payload.buffer.byteLength ? Buffer.from(payload) : payload;
}

function newEventId(): string {
  return randomUUID().replaceAll('-', '');
}
