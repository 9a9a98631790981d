import { type PlannedStep, planSteps } from '#modules/policies/decide/escalation.ts';
import { heldEventsOf } from '#modules/incidents/paging/hold.ts';
import { type IncidentRun, readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import type { FindPolicy } from '#modules/policies/decide/run.ts';
import { type Cause, dedupKeyOf, type Firing, type Opener } from '#modules/incidents/paging/firing.ts';
import { decideSuppression, mayHaveParent, type Suppression, startsAt } from '#modules/incidents/paging/suppression.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { startSpan, type TracedSpan } from '#kernel/tracing.ts';
import type { NewIncident } from '#modules/incidents/store/incident_store.ts';
import type { MaintenanceRow } from '#modules/maintenance/store.ts';
import { recordSystemChanges } from '#modules/audit/system_change.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Opens the incident of a rule and its timers in the caller's transaction. If one with the same key is open, that one
 * counts another occurrence. Returns the id of the new incident, or null.
 */
export async function openIncident(unit: UnitOfWork, rule: Opener, cause: Cause): Promise<Id<'incident'> | null> {
  const [opened = null] = await openAll(unit, [{ rule, cause }]);
  return opened;
}

/** Opens incidents like `openIncident`, in a few statements however many there are; the ids are in the order given. */
export async function openAll(unit: UnitOfWork, firings: readonly Firing[]): Promise<(Id<'incident'> | null)[]> {
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
  const steps = from === null ? run.steps : run.steps.map((step) => ({ ...step, countsFrom: toTimestamp(from) }));
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
