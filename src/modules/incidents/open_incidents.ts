import { type IncidentLimit, remainingIncidents } from '#modules/incidents/decide/incident_limit.ts';
import { ingestedFor } from '#modules/incidents/decide/incident_kind.ts';
import { joinStorm, type Source } from '#modules/incidents/join_storm.ts';
import { dedupKeyOf, type Firing } from '#modules/incidents/paging/firing.ts';
import { openAll } from '#modules/incidents/open_incident.ts';
import { refusalHour } from '#modules/services/store/ingest_refusal_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** Limit that stands for Infinity, which PostgreSQL does not accept. */
const COUNTED_MAX = 1_000_000_000;

/**
 * Opens the incidents of rules that fire, in the caller's transaction, or counts another occurrence of an open one.
 * Above the limit of a service they join a storm: one incident for all of them, which pages by the same policy. The
 * limit is counted separately for metrics and for exceptions, so that a flood of one cannot hide the other. Returns the
 * keys of those that were open before.
 */
export async function openIncidents(
  unit: UnitOfWork,
  firings: readonly Firing[],
  limit: IncidentLimit,
): Promise<ReadonlySet<string>> {
  if (firings.length === 0) return new Set();
  const { stores, now } = unit;
  await stores.storms.holdOpening(firings.map(sourceOf));
  const open = await stores.storms.countOpen(firings.map(dedupKeyOf), now);
  const fresh = firings.filter((firing) => !open.has(dedupKeyOf(firing)));
  if (fresh.length === 0) return open;
  const bySource = [...Map.groupBy(fresh, ({ rule, cause }) => `${rule.serviceId} ${cause.kind}`)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([, [first, ...others]]) =>
      first === undefined ? [] : [{ source: sourceOf(first), own: [first, ...others] }],
    );
  const recent = await stores.storms.countRecent(
    bySource.map(({ source }) => source),
    now.subtract({ minutes: limit.minutes }),
    Math.min(limit.incidents, COUNTED_MAX),
  );
  const limited = bySource.map(({ source, own }, index) => {
    const remaining = remainingIncidents(recent[index] ?? 0, limit);
    return { source, opening: own.slice(0, remaining), excess: own.slice(remaining) };
  });
  await openAll(
    unit,
    limited.flatMap(({ opening }) => opening),
  );
  for (const { source, excess } of limited) {
    for (const group of Map.groupBy(excess, ({ rule }) => rule.escalationPolicyId).values()) {
      await joinStorm(unit, source, group, limit);
    }
    if (excess.length === 0) continue;
    unit.limitReached('incidentsPerService', source.serviceId);
    await recordLimitReached(unit, source, excess.length);
  }
  return open;
}

function sourceOf({ rule, cause }: Firing): Source {
  return { serviceId: rule.serviceId, kind: cause.kind };
}

/** The ingest status of the service shows that the limit was reached. */
async function recordLimitReached(
  { stores, now }: UnitOfWork,
  { serviceId, kind }: Source,
  count: number,
): Promise<void> {
  const ingested = ingestedFor(kind);
  const hour = refusalHour(now);
  await stores.ingestRefusals.add([
    { serviceId, kind: ingested, reason: 'too_many_incidents', hour, count, lastAt: now },
  ]);
}
