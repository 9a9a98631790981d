import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { RULE_KINDS, type RuleKind } from '#core/incidents/rule_kinds.ts';
import { type IncidentLimit, roomFor, stormTitle, worseSeverity } from '#core/incidents/storm.ts';
import type { Id } from '#kernel/ids.ts';
import type { ActiveRule } from '#storage/postgres/active_rule_store.ts';
import { refusalHour } from '#storage/postgres/ingest_refusal_store.ts';
import { type Cause, dedupKeyOf, openIncident } from '#workers/open_incident.ts';

/** A rule that fires, and why. */
export interface Firing {
  readonly rule: ActiveRule;
  readonly cause: Cause;
}

/**
 * Opens the incidents of rules that fire, in the caller's transaction, or counts another occurrence of what is open.
 * Beyond the limit of a service they join a storm: one incident for all of them that the same policy pages for. The limit
 * is counted apart for breaches and for exceptions, so that senders of one cannot hide the other.
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
  const mostCounted = Math.min(limit.incidents, COUNTED_MAX);
  const room = roomFor(await stores.storms.countRecent(source, since, mostCounted), limit);
  for (const { rule, cause } of fresh.slice(0, room)) await openIncident(unit, rule, cause);
  const rest = fresh.slice(room);
  for (const own of Map.groupBy(rest, ({ rule }) => rule.escalationPolicyId).values()) {
    await joinStorm(unit, source, own, limit);
  }
  if (rest.length > 0) await noteLimit(unit, source, rest.length);
}

/** PostgreSQL takes no Infinity for a limit. */
const COUNTED_MAX = 1_000_000_000;

/** A storm takes members as long as there were some within the limit's minutes; the next one after that pages anew. */
async function joinStorm(
  unit: UnitOfWork,
  source: { readonly serviceId: Id<'service'>; readonly kind: RuleKind },
  firings: readonly Firing[],
  limit: IncidentLimit,
): Promise<void> {
  const { stores, now } = unit;
  const [first] = firings;
  if (first === undefined) return;
  const { rule, cause } = first;
  const current = await stores.storms.lockCurrent(source, rule.escalationPolicyId, now);
  const stormId =
    current?.id ?? (await openIncident(unit, rule, stormCause(rule, cause, limit, now.epochMilliseconds)));
  if (stormId === null) throw new Error('a storm of this moment is open and cannot be found');
  const members = firings.map((firing) => ({
    dedupKey: dedupKeyOf(firing),
    ruleId: firing.rule.ruleId,
    exceptionGroupId: firing.cause.exceptionGroupId,
    title: firing.cause.title,
    severity: firing.cause.severity,
  }));
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

function stormCause(rule: ActiveRule, cause: Cause, { incidents, minutes }: IncidentLimit, nowMs: number): Cause {
  return {
    ...cause,
    exceptionGroupId: null,
    dedupKey: `storm.${rule.serviceId}.${cause.kind}.${rule.escalationPolicyId ?? 'none'}.${nowMs}`,
    details: {},
    sentence: `more than ${incidents} incidents of this service within ${minutes} min; this one stands for those that follow`,
  };
}

/** People see in the service's ingest status that a limit was met. */
async function noteLimit(
  { stores, now }: UnitOfWork,
  { serviceId, kind }: { readonly serviceId: Id<'service'>; readonly kind: RuleKind },
  count: number,
): Promise<void> {
  const ingested = RULE_KINDS[kind].ingests;
  const hour = refusalHour(now);
  await stores.ingestRefusals.add([
    { serviceId, kind: ingested, reason: 'too_many_incidents', hour, count, lastAt: now },
  ]);
}
