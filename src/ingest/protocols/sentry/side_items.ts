import type { SessionCounts } from '#core/exceptions/sessions.ts';
import { asList, asObject, asPlainText, asText, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { asEventId } from '#ingest/protocols/sentry/values.ts';

/** Sessions of one release that a request tells of. */
export interface SentSessions extends SessionCounts {
  readonly release: string;
  /** Empty when the client named none. */
  readonly environment: string;
}

/** So many things of a kind were not kept by us, or not sent by the client. */
export interface NotKept {
  readonly kind: string;
  readonly reason: string;
  readonly count: number;
}

export interface SentFeedback {
  readonly eventId: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly comments: string;
}

export interface SentAttachment {
  readonly name: string;
  readonly contentType: string | null;
  readonly content: Buffer;
}

/** What is neither kept nor counted as an event, by what its clients call it. */
const KINDS: Readonly<Record<string, string>> = {
  transaction: 'transaction',
  span: 'span',
  replay_event: 'replay',
  replay_recording: 'replay',
  replay_video: 'replay',
  replay: 'replay',
  profile: 'profile',
  profile_chunk: 'profile',
  log: 'log',
  log_item: 'log',
  otel_log: 'log',
  statsd: 'metric',
  metric_buckets: 'metric',
  metric_meta: 'metric',
  metric_bucket: 'metric',
  trace_metric: 'metric',
  error: 'event',
  default: 'event',
  security: 'event',
  event: 'event',
  session: 'session',
  attachment: 'attachment',
  feedback: 'feedback',
  user_report: 'feedback',
  monitor: 'check-in',
  check_in: 'check-in',
};

export function kindOf(type: string): string {
  return Object.hasOwn(KINDS, type) ? (KINDS[type] ?? 'other') : 'other';
}

/** Why a client sends nothing, as the protocol has it. */
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
const ENTRIES_MAX = 100;
const COUNT_MAX = 1_000_000;

/** What a client says that it did not send. */
export function readClientReport(payload: Buffer): NotKept[] {
  const report = asObject(parseJson(payload));
  return asList(report?.['discarded_events'] ?? [])
    .slice(0, ENTRIES_MAX)
    .flatMap((entry): NotKept[] => {
      const { category, reason, quantity } = asObject(entry) ?? {};
      const count = asCount(quantity);
      if (count === 0 || typeof category !== 'string' || typeof reason !== 'string') return [];
      const named = CLIENT_REASONS.has(reason) ? reason : 'other';
      return [{ kind: kindOf(category), reason: `client:${named}`, count }];
    });
}

/** One update of a session: its beginning counts it, its end says how it went. */
export function readSession(payload: Buffer): SentSessions[] {
  const session = asObject(parseJson(payload));
  const origin = originOf(session);
  if (session === null || origin === null) return [];
  const status = session['status'];
  const isOver = status === 'exited' || status === 'crashed' || status === 'abnormal' || status === 'errored';
  const hasErrors = asCount(session['errors']) > 0 || status === 'errored';
  return [
    {
      ...origin,
      sessions: session['init'] === true ? 1 : 0,
      errored: isOver && hasErrors && status !== 'crashed' ? 1 : 0,
      crashed: status === 'crashed' ? 1 : 0,
      abnormal: status === 'abnormal' ? 1 : 0,
    },
  ];
}

/** Sessions that a server has counted itself. */
export function readSessionAggregates(payload: Buffer): SentSessions[] {
  const sent = asObject(parseJson(payload));
  const origin = originOf(sent);
  if (sent === null || origin === null) return [];
  const totals = { sessions: 0, errored: 0, crashed: 0, abnormal: 0 };
  for (const entry of asList(sent['aggregates'] ?? []).slice(0, ENTRIES_MAX)) {
    const { exited, errored, crashed, abnormal } = asObject(entry) ?? {};
    totals.sessions += asCount(exited) + asCount(errored) + asCount(crashed) + asCount(abnormal);
    totals.errored += asCount(errored);
    totals.crashed += asCount(crashed);
    totals.abnormal += asCount(abnormal);
  }
  return [{ ...origin, ...totals }];
}

function originOf(session: JsonObject | null): Pick<SentSessions, 'release' | 'environment'> | null {
  const attributes = asObject(session?.['attrs'] ?? session?.['attributes']);
  const release = asText(attributes?.['release'], 200)?.trim() ?? '';
  return release === '' ? null : { release, environment: asText(attributes?.['environment'], 200) ?? '' };
}

function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, COUNT_MAX) : 0;
}

const COMMENTS_LENGTH_MAX = 4_096;

/** What a user wrote about an event; null when it names no event, or says nothing. */
export function readFeedback(payload: Buffer): SentFeedback | null {
  const report = asObject(parseJson(payload));
  const feedback = asObject(asObject(report?.['contexts'])?.['feedback']) ?? report;
  const eventId = asEventId(feedback?.['associated_event_id'] ?? report?.['event_id']);
  const comments = asPlainText(feedback?.['message'] ?? feedback?.['comments'], COMMENTS_LENGTH_MAX);
  if (eventId === null || comments === null) return null;
  return {
    eventId,
    comments,
    name: asText(feedback?.['name'], 200),
    email: asText(feedback?.['contact_email'] ?? feedback?.['email'], 200),
  };
}

/** Of one file. */
export const ATTACHMENT_BYTES_MAX = 2 * 1024 * 1024;

export function readAttachment(header: JsonObject, payload: Buffer): SentAttachment {
  return {
    name: asText(header['filename'], 200) ?? 'attachment',
    contentType: asText(header['content_type'], 100),
    content: payload,
  };
}
