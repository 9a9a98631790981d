import {
  asCheckInStatus,
  type CheckInStatus,
  DEFAULT_ENVIRONMENT,
  ENVIRONMENT_LENGTH_MAX,
  toSlug,
} from '#modules/monitors/decide/check_in.ts';
import { type MonitorConfig, numberOf, readMonitorConfig, scheduleFault } from '#modules/monitors/decide/schedule.ts';
import { asObject, asText, type JsonObject, parseJson } from '#ingest/protocols/sentry/json.ts';
import { asEventId } from '#ingest/protocols/sentry/values.ts';

/** Report of a scheduled job on a run. */
export interface SentCheckIn {
  readonly slug: string;
  readonly environment: string;
  /** Id that the client gave the run; null for the one that began last, or a new one. */
  readonly runId: string | null;
  readonly status: CheckInStatus;
  readonly durationMs: number | null;
  /** Expectations for the job; null if none were sent. */
  readonly config: MonitorConfig | null;
  /** Fault of the schedule, which is kept as unreadable; null if there is none. */
  readonly configFault: string | null;
  readonly release: string | null;
}

/** A check-in of an envelope; null for what is none. */
export function readCheckIn(payload: Buffer): SentCheckIn | null {
  const sent = asObject(parseJson(payload));
  return sent === null ? null : toCheckIn(sent['monitor_slug'], sent);
}

/** A check-in by an address: what the query says counts before the body. Null without a status, or a name. */
export function readCheckInRequest(
  slug: string,
  query: Readonly<Record<string, unknown>>,
  body: Buffer,
): SentCheckIn | null {
  const sent = body.length === 0 ? {} : asObject(parseJson(body));
  if (sent === null) return null;
  return toCheckIn(slug, { ...sent, ...query });
}

const YEAR_SECONDS = 366 * 86_400;

function toCheckIn(name: unknown, sent: JsonObject): SentCheckIn | null {
  const slug = typeof name === 'string' ? toSlug(name) : null;
  const status = asCheckInStatus(sent['status']);
  if (slug === null || status === null) return null;
  const duration = numberOf(sent['duration']);
  const isDuration = duration !== null && duration >= 0 && duration <= YEAR_SECONDS;
  const config = sent['monitor_config'];
  const read = config == null ? null : readMonitorConfig(asObject(config) ?? {});
  const fault = scheduleFault(read && read.schedule);
  return {
    slug,
    status,
    environment: asText(sent['environment'], ENVIRONMENT_LENGTH_MAX)?.trim() || DEFAULT_ENVIRONMENT,
    runId: asEventId(sent['check_in_id']),
    durationMs: isDuration ? Math.round(duration * 1_000) : null,
    config: read,
    configFault: fault === null ? null : `monitor_config: ${fault}`,
    release: asText(sent['release'], 200),
  };
}
