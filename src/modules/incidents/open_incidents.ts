import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { startSpan, type TracedSpan } from '#kernel/tracing.ts';
import { recordSystemChanges } from '#modules/audit/system_change.ts';
import {
  type CauseKind,
  type IncidentLimit,
  ingestedFor,
  remainingIncidents,
  stormTitle,
  worseSeverity,
} from '#modules/incidents/decide/incident_limit.ts';
import { ownLabelsOf } from '#modules/incidents/decide/incident_labels.ts';
import { type Cause, dedupKeyOf, type Firing, type Opener } from '#modules/incidents/paging/firing.ts';
import { heldEventsOf } from '#modules/incidents/paging/hold.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import {
  decideSuppression,
  followMaintenance,
  isSuppressed,
  isWaitingForMaintenance,
  mayHaveParent,
  startsAt,
  type Suppression,
  waitingSteps,
} from '#modules/incidents/paging/suppression.ts';
import type { NewIncident } from '#modules/incidents/store/incident_store.ts';
import type { MaintenanceRow } from '#modules/maintenance/store.ts';
import { type PlannedStep, planSteps } from '#modules/policies/decide/escalation.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import type { FindPolicy } from '#modules/policies/decide/run.ts';
import { type IncidentRun, readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import { refusalHour } from '#modules/services/store/ingest_counts.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Limit that stands for Infinity, which PostgreSQL does not accept. */
const COUNTED_MAX = 1_000_000_000;

/**
 * Opens the incidents of rules that fire, in the caller's transaction, or counts another occurrence of an open one.
 * Above the limit of a service they join a storm: one incident for all of them, which pages by the same policy. The
 * limit is counted separately for each kind of cause, so that a flood of one cannot hide another. Returns the
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
      first === undefined ? [] : [{ source: sourceOf(first), openings: [first, ...others] }],
    );
  const recent = await stores.storms.countRecent(
    bySource.map(({ source }) => source),
    now.subtract({ minutes: limit.minutes }),
    Math.min(limit.incidents, COUNTED_MAX),
  );
  const limited = bySource.map(({ source, openings }, index) => {
    const remaining = remainingIncidents(recent[index] ?? 0, limit);
    return { source, opening: openings.slice(0, remaining), excess: openings.slice(remaining) };
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

interface Source {
  readonly serviceId: Id<'service'>;
  readonly kind: CauseKind;
}

/**
 * Adds firings of one policy to the storm that takes members now, whoever has it by now, or opens a new storm. A storm
 * takes members until none has come for the minutes of the limit; the next storm pages again.
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
  const labels = ownLabelsOf({ kind: source.kind, details: { ...(current ?? cause).details } });
  await stores.storms.describe(
    stormId,
    {
      title: stormTitle(source.kind, count, name, cause.title),
      severity: members.map(({ severity }) => severity).reduce(worseSeverity, current?.severity ?? cause.severity),
      details: { standsFor: count, limit, ...(Object.keys(labels).length > 0 && { labels }) },
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
    return await followMaintenance(unit, storm, null);
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

/**
 * Opens the incident of a rule and its timers in the caller's transaction. If one with the same key is open, that one
 * counts another occurrence. Returns the id of the new incident, or null.
 */
export async function openIncident(unit: UnitOfWork, rule: Opener, cause: Cause): Promise<Id<'incident'> | null> {
  const [opened = null] = await openAll(unit, [{ rule, cause }]);
  return opened;
}

/** Opens incidents like `openIncident`, in a few statements however many there are; the ids are in the order given. */
async function openAll(unit: UnitOfWork, firings: readonly Firing[]): Promise<(Id<'incident'> | null)[]> {
  const settings = new Map<Id<'org'>, Setting>();
  for (const [orgId, ofOrganization] of Map.groupBy(firings, ({ rule }) => rule.orgId)) {
    const policyIds = ofOrganization.flatMap(({ rule: { escalationPolicyId: id } }) => (id === null ? [] : [id]));
    settings.set(orgId, {
      windows: await unit.stores.maintenance.list(orgId),
      findPolicy: await readPolicies(unit.stores, orgId, policyIds),
    });
  }
  const inShadow = await unit.stores.shadow.findServices(firings.map(({ rule }) => rule.serviceId));
  const ids: (Id<'incident'> | null)[] = [];
  let prepared: Prepared[] = [];
  const openPrepared = async (): Promise<void> => {
    ids.push(...(await open(unit, prepared)));
    prepared = [];
  };
  for (const firing of firings) {
    // Incidents before it may page for it.
    if (mayHaveParent(firing)) await openPrepared();
    prepared.push(
      await prepare(unit, firing, settings.get(firing.rule.orgId) ?? NO_SETTING, inShadow.has(firing.rule.serviceId)),
    );
  }
  await openPrepared();
  return ids;
}

/** Facts about an organization that decide when and whom its incidents page. */
interface Setting {
  readonly windows: readonly MaintenanceRow[];
  readonly findPolicy: FindPolicy;
}

const NO_SETTING: Setting = { windows: [], findPolicy: () => undefined };

/** A firing, with all that its incident begins with. */
interface Prepared extends Firing {
  readonly start: Suppression;
  readonly run: IncidentRun;
  readonly incident: NewIncident;
  readonly timers: readonly PlannedStep[];
}

async function prepare(
  unit: UnitOfWork,
  { rule, cause }: Firing,
  { windows, findPolicy }: Setting,
  isShadow: boolean,
): Promise<Prepared> {
  const runAt = (at: Temporal.Instant) => runOfPolicy(rule, findPolicy, at, cause.severity);
  const atOnce = runAt(unit.now);
  const firing = { rule: { ...rule, ...policyOf(atOnce) }, cause };
  const start = await decideSuppression(unit, firing, { windows, isShadow });
  const from = startsAt(start);
  const run = start.kind === 'quiet' ? runAt(start.until) : atOnce;
  const steps = from === null ? run.steps : waitingSteps(run, from);
  const incident = {
    orgId: rule.orgId,
    serviceId: rule.serviceId,
    ruleId: rule.ruleId,
    exceptionGroupId: cause.exceptionGroupId,
    ...policyOf(run),
    kind: cause.kind,
    dedupKey: dedupKeyOf({ rule, cause }),
    title: cause.title,
    severity: cause.severity,
    details: cause.details,
    steps,
    repeats: repeatsOf(run),
    suppressedUntil: start.kind === 'quiet' ? start.until : null,
    parentId: start.kind === 'with_parent' ? start.parentId : null,
    isShadow,
  };
  return { rule, cause, start, run, incident, timers: planSteps(steps, unit.now) };
}

function policyOf({ escalationPolicyId, teamId }: IncidentRun) {
  return { escalationPolicyId, teamId };
}

async function open(unit: UnitOfWork, prepared: readonly Prepared[]): Promise<(Id<'incident'> | null)[]> {
  if (prepared.length === 0) return [];
  const spans = prepared.map(({ rule, cause }) => {
    const attributes = {
      ...(rule.ruleId !== null && { 'tocsin.rule_id': rule.ruleId }),
      'tocsin.service_id': rule.serviceId,
    };
    return startSpan('open_incident', { kind: 'internal', attributes, parent: cause.traceparent });
  });
  try {
    const ids = await store(unit, prepared, spans);
    for (const span of spans) span?.end();
    return ids;
  } catch (error) {
    for (const span of spans) span?.end(error);
    throw error;
  }
}

async function store(
  unit: UnitOfWork,
  prepared: readonly Prepared[],
  spans: readonly (TracedSpan | null)[],
): Promise<(Id<'incident'> | null)[]> {
  const { stores, now } = unit;
  const traced = prepared.map((incident, index) => ({ ...incident, traceparent: spans[index]?.traceparent ?? null }));
  const ids = await stores.incidents.openAll(traced, now);
  const opened = prepared.flatMap((incident, index) => {
    const incidentId = ids[index] ?? null;
    if (incidentId === null) return [];
    spans[index]?.set({ 'tocsin.incident_id': incidentId });
    return [{ ...incident, incidentId }];
  });
  await stores.timeline.recordAll(
    opened.flatMap((incident) => eventsOf(incident, now)),
    now,
  );
  await recordSystemChanges(
    unit,
    opened.map(({ rule, cause, incidentId }) => ({
      orgId: rule.orgId,
      action: 'open_incident',
      via: cause.kind === 'alert' ? 'alert' : 'rule',
      target: incidentId,
      before: null,
      after: {
        status: 'triggered',
        ...(cause.kind === 'alert' ? { by: rule.name } : { ruleId: rule.ruleId }),
        title: cause.title,
      },
    })),
  );
  for (const { incidentId, timers } of opened) scheduleSteps(unit, incidentId, timers);
  return ids;
}

interface Opened extends Prepared {
  readonly incidentId: Id<'incident'>;
}

/** Returns the first timeline events: how the incident began, and why it does not page, or not at once. */
function eventsOf({ incidentId, rule, cause, timers, start, run, incident }: Opened, now: Temporal.Instant) {
  const withoutPolicy = cause.kind === 'alert' ? 'no_route' : 'no_policy';
  const reason = rule.escalationPolicyId === null ? withoutPolicy : 'no_steps';
  const by = cause.kind === 'alert' ? { tool: rule.name } : { rule: rule.name };
  return [
    { incidentId, event: 'triggered', data: { ...by, cause: cause.sentence } },
    ...(incident.isShadow ? [{ incidentId, event: 'shadow', data: {} }] : []),
    ...(rule.isPolicyUnreadable ? [{ incidentId, event: 'policy_unreadable', data: {} }] : []),
    ...(timers.length === 0 ? [{ incidentId, event: 'nobody_paged', data: { reason } }] : []),
    ...(run.insteadOf === null ? [] : [{ incidentId, event: 'other_policy', data: run.insteadOf }]),
    ...startEventsOf(incidentId, start, cause.title),
    ...heldEventsOf(incidentId, incident.steps, timers, now),
  ];
}

function startEventsOf(incidentId: Id<'incident'>, start: Suppression, title: string) {
  switch (start.kind) {
    case 'at_once':
      return [];
    case 'quiet': {
      const data = { until: toTimestamp(start.until), maintenance: start.maintenance };
      return [{ incidentId, event: 'quiet', data }];
    }
    case 'with_parent':
      return [
        { incidentId, event: 'grouped', data: { parentId: start.parentId, title: start.title } },
        { incidentId: start.parentId, event: 'group_joined', data: { incidentId, title } },
      ];
  }
}
