import type { ToolCaller } from './mcp_session.ts';
import type { Cause, Signal } from './scenes.ts';

interface Series {
  readonly points: readonly { readonly at: string; readonly value: number }[];
  readonly to: string;
}

interface Group {
  readonly groupId: string;
  readonly firstSeenAt: string;
  readonly eventCount: number;
}

interface GroupDetails {
  readonly type: string | null;
  readonly title: string;
  readonly recentEvents: readonly { readonly at: string; readonly release: string | null; readonly tags: unknown }[];
}

const MINUTE = 60_000;
/** Age up to which something counts as recent; before it the service did well. */
const RECENT = 10 * MINUTE;
const NEW_WITHIN = 25 * MINUTE;

/**
 * Looks at an incident as a careful person would, by rules and without a model: what fired, which signals moved, which
 * exceptions are new, and whether a release came with them. Twelve calls at most.
 */
export async function investigate(session: ToolCaller, incidentId: string): Promise<Cause | 'unknown'> {
  const incident = (await session.call('get_incident', { incidentId })).result as { serviceId: string };
  const { serviceId } = incident;
  const { metricNames } = (await session.call('list_metric_names', { serviceId })).result as { metricNames: string[] };
  const read = async (metricName: Signal): Promise<Series> =>
    metricNames.includes(metricName)
      ? ((await session.call('query_metric', { serviceId, metricName, windowMinutes: 60 })).result as Series)
      : { points: [], to: new Date().toISOString() };

  const errors = await read('http_errors_percent');
  const bad = errors.points.filter(({ value }) => value > 5);
  if (bad.length <= 1) return 'healthy';
  if (recent(errors, 5 * MINUTE).every((value) => value < 5)) return 'recovered';

  if (ratio(await read('retries_per_second')) > 5) return 'retry_storm';
  if (ratio(await read('upstream_latency_ms')) > 3) return 'dependency';
  if (grows(await read('memory_mb'))) return 'leak';
  const steal = await read('host_steal_percent');
  if (ratio(steal) > 5 && middle(recent(steal, RECENT)) > 10) return 'noisy_neighbour';
  if (Math.abs(middle(recent(await read('clock_offset_ms'), RECENT))) > 1_000) return 'clock';
  const heartbeat = await read('worker_heartbeat');
  if (heartbeat.points.length > 10 && recent(heartbeat, RECENT).length === 0) return 'missing_metric';
  return await byExceptions(session, serviceId);
}

async function byExceptions(session: ToolCaller, serviceId: string): Promise<Cause | 'unknown'> {
  const { groups } = (await session.call('list_exception_groups', { serviceId })).result as { groups: Group[] };
  const isNew = ({ firstSeenAt }: Group) => Date.now() - Date.parse(firstSeenAt) < NEW_WITHIN;
  const fresh = groups.filter(isNew).toSorted((a, b) => b.eventCount - a.eventCount)[0];
  if (fresh === undefined) return 'unknown';
  const details = await detailsOf(session, fresh);
  const words = `${details.type} ${details.title}`;
  if (/certificate|x509/i.test(words)) return 'certificate';
  if (/config|setting/i.test(words)) return 'bad_config';
  const messages = new Set(details.recentEvents.map(({ tags }) => JSON.stringify(tags).match(/msg-\w+/)?.[0]));
  if (details.recentEvents.length > 3 && messages.size === 1 && !messages.has(undefined)) return 'poison_message';
  const old = groups.find((group) => !isNew(group));
  const before = old === undefined ? [] : (await detailsOf(session, old)).recentEvents;
  const releases = new Set(details.recentEvents.map(({ release }) => release));
  const [release] = releases;
  const wasThere = before.some((event) => event.release === release && Date.now() - Date.parse(event.at) > NEW_WITHIN);
  return releases.size === 1 && before.length > 0 && !wasThere ? 'deploy' : 'unknown';
}

async function detailsOf(session: ToolCaller, { groupId }: Group): Promise<GroupDetails> {
  return (await session.call('get_exception_group', { groupId })).result as GroupDetails;
}

/** The values of the last milliseconds. */
function recent({ points, to }: Series, forMs: number): number[] {
  return points.filter(({ at }) => Date.parse(to) - Date.parse(at) <= forMs).map(({ value }) => value);
}

/** The middle of what it is lately, by the middle of what it was before. */
function ratio(series: Series): number {
  const before = series.points.filter(({ at }) => Date.parse(series.to) - Date.parse(at) > 20 * MINUTE);
  const usual = Math.abs(middle(before.map(({ value }) => value)));
  return Math.abs(middle(recent(series, RECENT))) / Math.max(usual, 0.001);
}

/** Steadily: each sixth of the time above the one before it, and nearly twice as much in the end. */
function grows({ points }: Series): boolean {
  const size = Math.floor(points.length / 6);
  if (size < 3) return false;
  const parts = [0, 1, 2, 3, 4, 5].map((part) =>
    middle(points.slice(part * size, (part + 1) * size).map(({ value }) => value)),
  );
  const rises = parts.every((value, index) => index === 0 || value > (parts[index - 1] ?? 0) * 1.05);
  return rises && (parts[5] ?? 0) > (parts[0] ?? 0) * 1.6;
}

function middle(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
