import {
  asCount,
  asList,
  asObject,
  asPlainText,
  asText,
  type JsonObject,
  parseJson,
} from '#ingest/protocols/sentry/json.ts';
import { asEventId } from '#ingest/protocols/sentry/values.ts';

/** Number of items of a kind that were dropped by us, or not sent by the client. */
export interface NotKept {
  readonly kind: string;
  readonly reason: string;
  readonly count: number;
}

export interface SentFeedback {
  /** Event to which the feedback refers; null if there is none. */
  readonly eventId: string | null;
  /** Id of the feedback, which files sent with it refer to; null for the older form, which has none. */
  readonly feedbackId: string | null;
  readonly name: string | null;
  readonly email: string | null;
  readonly comments: string;
  /** The page on which it was written. */
  readonly url: string | null;
}

export interface SentAttachment {
  readonly name: string;
  readonly contentType: string | null;
  readonly content: Buffer;
}

/** Items that are neither kept nor counted as events, by their names in the protocol. */
const KINDS: Readonly<Record<string, string>> = {
  transaction: 'transaction',
  span: 'span',
  replay_event: 'replay',
  replay_recording: 'replay',
  replay_video: 'replay',
  replay: 'replay',
  profile: 'profile',
  profile_chunk: 'profile',
  profile_chunk_ui: 'profile',
  log: 'log',
  log_item: 'log',
  otel_log: 'log',
  statsd: 'metric',
  metric_buckets: 'metric',
  metric_meta: 'metric',
  metric_bucket: 'metric',
  browser_report: 'browser report',
  minidump: 'memory dump',
  trace_metric: 'metric',
  error: 'event',
  default: 'event',
  security: 'event',
  event: 'event',
  session: 'session',
  sessions: 'session',
  client_report: 'client report',
  attachment: 'attachment',
  attachment_item: 'attachment',
  feedback: 'feedback',
  user_report: 'feedback',
  user_report_v2: 'feedback',
  monitor: 'check-in',
  check_in: 'check-in',
};

export function kindOf(type: string): string {
  return Object.hasOwn(KINDS, type) ? (KINDS[type] ?? 'other') : 'other';
}

/** Reasons why a client drops items, as the protocol defines them. */
const CLIENT_REASONS: ReadonlySet<string> = new Set([
  'queue_overflow',
  'cache_overflow',
  'buffer_overflow',
  'ratelimit_backoff',
  'backpressure',
  'network_error',
  'sample_rate',
  'before_send',
  'event_processor',
  'send_error',
  'internal_sdk_error',
  'insufficient_data',
  'ignored',
]);
/** Lists of a report: of what the client left out itself, and of what a relay in between did. */
const LISTS = ['discarded_events', 'rate_limited_events', 'filtered_events', 'filtered_sampling_events'] as const;
const ENTRIES_MAX = 1_000;

/** Categories whose quantity is bytes or a time, and the category that counts the same things as items. */
const MEASURES: Readonly<Record<string, string>> = {
  attachment: 'attachment_item',
  log_byte: 'log_item',
  trace_metric_byte: 'trace_metric',
  profile_duration: 'profile_chunk',
  profile_duration_ui: 'profile_chunk_ui',
};

/**
 * Reads what a client reports as not sent. The number of files in `attachment: 5000` bytes is unknown: at least one,
 * unless the report counts them as well. Null for what cannot be read.
 */
export function readClientReport(payload: Buffer): NotKept[] | null {
  const report = asObject(parseJson(payload));
  if (report === null) return null;
  const entries = LISTS.flatMap((name) => asList(report[name] ?? []))
    .slice(0, ENTRIES_MAX)
    .flatMap((entry) => {
      const { category, reason, quantity } = asObject(entry) ?? {};
      const count = asCount(quantity);
      if (count === 0 || typeof category !== 'string' || typeof reason !== 'string') return [];
      return [{ category, reason: `client:${CLIENT_REASONS.has(reason) ? reason : 'other'}`, count }];
    });
  const counted = new Set(entries.map(({ category, reason }) => `${category} ${reason}`));
  return entries.flatMap(({ category, reason, count }): NotKept[] => {
    const items = Object.hasOwn(MEASURES, category) ? MEASURES[category] : undefined;
    if (items === undefined) return [{ kind: kindOf(category), reason, count }];
    return counted.has(`${items} ${reason}`) ? [] : [{ kind: kindOf(items), reason, count: 1 }];
  });
}

const CONTAINER_BYTES_COUNTED = 256 * 1024;
/** Bytes in which a container names its list: settings may stand before it. */
const CONTAINER_HEAD_BYTES = 2_000;

/**
 * Returns the number of things in an item, such as the lines of a log: the header's count, limited by the item's bytes;
 * without one, the number of those that a container of usual size holds.
 */
export function itemCountOf(header: JsonObject, payload: Buffer): number {
  const count = asCount(header['item_count']);
  const mayBeContainer =
    payload.length <= CONTAINER_BYTES_COUNTED && payload.subarray(0, CONTAINER_HEAD_BYTES).includes('"items"');
  if (count > 0 || !mayBeContainer) return Math.max(1, Math.min(count, payload.length));
  const items = asObject(parseJson(payload))?.['items'];
  return Array.isArray(items) ? Math.max(1, items.length) : 1;
}

const COMMENTS_LENGTH_MAX = 4_096;

/**
 * Reads user feedback; null if it is empty, or if a report of the older form names no event and its envelope has none
 * either.
 */
export function readFeedback(
  type: 'user_report' | 'feedback',
  payload: Buffer,
  envelopeId: string | null,
): SentFeedback | null {
  const report = asObject(parseJson(payload));
  const feedback = asObject(asObject(report?.['contexts'])?.['feedback']) ?? report;
  const id = asEventId(report?.['event_id']);
  const about = asEventId(feedback?.['associated_event_id']);
  const eventId = type === 'user_report' ? (about ?? id ?? envelopeId) : about;
  const comments = asPlainText(feedback?.['message'] ?? feedback?.['comments'], COMMENTS_LENGTH_MAX);
  if (comments === null || comments.trim() === '' || (type === 'user_report' && eventId === null)) return null;
  return {
    eventId,
    feedbackId: type === 'feedback' ? id : null,
    comments,
    name: asPlainText(feedback?.['name'], 200),
    email: asText(feedback?.['contact_email'] ?? feedback?.['email'], 200),
    url: asPlainText(feedback?.['url'] ?? asObject(report?.['request'])?.['url'], 500),
  };
}

/** Limit on the size of one attachment. */
export const ATTACHMENT_BYTES_MAX = 2 * 1024 * 1024;

export function readAttachment(header: JsonObject, payload: Buffer): SentAttachment {
  return {
    name: asText(header['filename'], 200) ?? 'attachment',
    contentType: asText(header['content_type'], 100),
    content: payload,
  };
}
