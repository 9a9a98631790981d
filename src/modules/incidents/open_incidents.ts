import type { Id } from '#kernel/ids.ts';
import { type CauseKind, ingestedFor } from '#modules/incidents/decide/incident_kind.ts';
import {
  type IncidentLimit,
  remainingIncidents,
  stormTitle,
  worseSeverity,
} from '#modules/incidents/decide/incident_limit.ts';
import { openAll, openIncident } from '#modules/incidents/open_incident.ts';
import { type Cause, dedupKeyOf, type Firing, type Opener } from '#modules/incidents/paging/firing.ts';
import { isSuppressed, isWaitingForMaintenance, movePaging } from '#modules/incidents/paging/suppression.ts';
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

/** The service and the kind of cause for which incidents are counted. */
interface Source {
  readonly serviceId: Id<'service'>;
  readonly kind: CauseKind;
}

/**
 * Adds firings of one policy to the storm that takes members now, whoever has it by now, or opens a new storm. A storm takes members until none
 * has come for the minutes of the limit; the next storm pages again.
 */
async function joinStorm(
  unit: UnitOfWork,
  source: Source,
  firings: readonly Firing[],
  limit: IncidentLimit,
): Promise<void> {
  const { stores, now } = unit;
  const [first] = firings;
  if (first === undefined) return;
  const { rule, cause } = first;
  const isShadow = (await stores.shadow.findServices([source.serviceId])).has(source.serviceId);
  const key = stormKey(source, rule, isShadow);
  const current = await stores.storms.lockCurrent(source, key, now);
  const stormId =
    current?.id ?? (await openIncident(unit, rule, stormCause(`${key}${now.epochMilliseconds}`, cause, limit)));
  if (stormId === null) throw new Error('another storm was opened in the same millisecond');
  const members = firings.map((firing) => ({
    dedupKey: dedupKeyOf(firing),
    ruleId: firing.rule.ruleId,
    exceptionGroupId: firing.cause.exceptionGroupId,
    title: firing.cause.title,
    severity: firing.cause.severity,
  }));
  if (current !== null) await releaseStorm(unit, current.id, firings);
  await stores.storms.addMembers(stormId, source, members, now);
  const count = await stores.storms.count(stormId);
  const { name } = await stores.services.get(rule.orgId, rule.serviceId);
  await stores.storms.describe(
    stormId,
    {
      title: stormTitle(source.kind, count, name, cause.title),
      severity: members.map(({ severity }) => severity).reduce(worseSeverity, current?.severity ?? cause.severity),
      details: { standsFor: count, limit },
      members: count,
    },
    now.add({ minutes: limit.minutes }),
    now,
  );
}

/** A storm that waits for the end of a maintenance pages at once when something joins that is not in maintenance. */
async function releaseStorm(unit: UnitOfWork, stormId: Id<'incident'>, firings: readonly Firing[]): Promise<void> {
  const storm = await unit.stores.incidents.lock(stormId);
  if (storm === null || !isWaitingForMaintenance(storm, unit.now)) return;
  for (const firing of firings) {
    if (await isSuppressed(unit, firing)) continue;
    await movePaging(unit, storm, null);
    await unit.stores.timeline.record(stormId, 'maintenance_ended', {}, unit.now);
    return;
  }
}

function stormCause(dedupKey: string, cause: Cause, { incidents, minutes }: IncidentLimit): Cause {
  return {
    ...cause,
    exceptionGroupId: null,
    dedupKey,
    details: {},
    sentence: `more than ${incidents} incidents of this service within ${minutes} min; this one stands for those that follow`,
  };
}

/**
 * Prefix of the keys of all storms of a policy. It stays when people reassign a storm, which goes on for its rules. A storm
 * that was opened in shadow mode takes nothing that pages.
 */
function stormKey({ serviceId, kind }: Source, { escalationPolicyId }: Opener, isShadow: boolean): string {
  return `storm.${serviceId}.${kind}.${isShadow ? 'shadow-' : ''}${escalationPolicyId ?? 'none'}.`;
}
