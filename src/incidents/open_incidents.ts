import { type IncidentLimit, remainingIncidents } from '#core/incidents/incident_limit.ts';
import { RULE_KINDS } from '#core/incidents/rule_kinds.ts';
import { joinStorm, type Source } from '#incidents/join_storm.ts';
import { dedupKeyOf, type Firing, openIncident } from '#incidents/open_incident.ts';
import { refusalHour } from '#storage/postgres/ingest_refusal_store.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** PostgreSQL accepts no Infinity as a limit. */
const COUNTED_MAX = 1_000_000_000;

/**
 * Opens the incidents of rules that fire, in the caller's transaction, or counts another occurrence of an open one.
 * Above the limit of a service they join a storm: one incident for all of them, which pages by the same policy. The
 * limit is counted separately for metrics and for exceptions, so that a flood of one cannot hide the other.
 */
export async function openIncidents(unit: UnitOfWork, firings: readonly Firing[], limit: IncidentLimit): Promise<void> {
  const bySource = [...Map.groupBy(firings, ({ rule, cause }) => `${rule.serviceId} ${cause.kind}`)];
  for (const [, own] of bySource.toSorted(([a], [b]) => (a < b ? -1 : 1))) await openOfSource(unit, own, limit);
}

async function openOfSource(unit: UnitOfWork, firings: readonly Firing[], limit: IncidentLimit): Promise<void> {
  const { stores, now } = unit;
  const [first] = firings;
  if (first === undefined) return;
  const source = { serviceId: first.rule.serviceId, kind: first.cause.kind };
  await stores.storms.holdOpening(source);
  const open = await stores.storms.countOpen(firings.map(dedupKeyOf), now);
  const fresh = firings.filter((firing) => !open.has(dedupKeyOf(firing)));
  if (fresh.length === 0) return;
  const since = now.subtract({ minutes: limit.minutes });
  const recent = await stores.storms.countRecent(source, since, Math.min(limit.incidents, COUNTED_MAX));
  const remaining = remainingIncidents(recent, limit);
  for (const { rule, cause } of fresh.slice(0, remaining)) await openIncident(unit, rule, cause);
  const excess = fresh.slice(remaining);
  for (const own of Map.groupBy(excess, ({ rule }) => rule.escalationPolicyId).values()) {
    await joinStorm(unit, source, own, limit);
  }
  if (excess.length === 0) return;
  unit.limitMet('incidentsPerService', source.serviceId);
  await recordLimitReached(unit, source, excess.length);
}

/** The ingest status of the service shows that the limit was reached. */
async function recordLimitReached(
  { stores, now }: UnitOfWork,
  { serviceId, kind }: Source,
  count: number,
): Promise<void> {
  const ingested = RULE_KINDS[kind].ingests;
  const hour = refusalHour(now);
  await stores.ingestRefusals.add([
    { serviceId, kind: ingested, reason: 'too_many_incidents', hour, count, lastAt: now },
  ]);
}
