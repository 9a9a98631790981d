import type { RuleKind } from '#core/incidents/rule_kinds.ts';
import { planSteps } from '#core/oncall/escalation.ts';
import { decidePagingStart, type PagingStart, startsAt } from '#incidents/paging_start.ts';
import { startTimers } from '#incidents/start_timers.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { inSpan } from '#kernel/tracing.ts';
import type { ActiveRule } from '#storage/postgres/active_rule_store.ts';
import { recordSystemChange } from '#storage/postgres/system_change.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** What made a rule fire. */
export interface Cause {
  readonly kind: RuleKind;
  readonly exceptionGroupId: Id<'group'> | null;
  /** At most one open incident has this key. By default the rule, with its exception group if there is one. */
  readonly dedupKey?: string;
  readonly title: string;
  readonly severity: string;
  /** What was measured or seen. */
  readonly details: object;
  /** The cause in half a sentence, for the timeline. */
  readonly sentence: string;
  /** The span that found it; absent for the one that runs. */
  readonly traceparent?: string | null;
}

/** A rule that fires, and why. */
export interface Firing {
  readonly rule: ActiveRule;
  readonly cause: Cause;
}

export function dedupKeyOf({ rule, cause }: Firing): string {
  return cause.dedupKey ?? (cause.exceptionGroupId === null ? rule.ruleId : `${rule.ruleId}.${cause.exceptionGroupId}`);
}

/**
 * Opens the incident of a rule and its timers in the caller's transaction. If one with the same key is open, that one
 * counts another occurrence. Returns the id of the new incident, or null.
 */
export async function openIncident(unit: UnitOfWork, rule: ActiveRule, cause: Cause): Promise<Id<'incident'> | null> {
  const attributes = { 'tocsin.rule_id': rule.ruleId, 'tocsin.service_id': rule.serviceId };
  return await inSpan('open_incident', { kind: 'internal', attributes, parent: cause.traceparent }, async (span) => {
    const incidentId = await open(unit, rule, cause);
    if (incidentId !== null) span?.set({ 'tocsin.incident_id': incidentId });
    return incidentId;
  });
}

async function open(unit: UnitOfWork, rule: ActiveRule, cause: Cause): Promise<Id<'incident'> | null> {
  const { stores, now } = unit;
  const start = await decidePagingStart(unit, { rule, cause });
  const from = startsAt(start);
  const steps = from === null ? rule.steps : rule.steps.map((step) => ({ ...step, countsFrom: toTimestamp(from) }));
  const timers = planSteps(steps, now);
  const incidentId = await stores.incidents.open(
    {
      orgId: rule.orgId,
      serviceId: rule.serviceId,
      ruleId: rule.ruleId,
      exceptionGroupId: cause.exceptionGroupId,
      escalationPolicyId: rule.escalationPolicyId,
      teamId: rule.teamId,
      kind: cause.kind,
      dedupKey: dedupKeyOf({ rule, cause }),
      title: cause.title,
      severity: cause.severity,
      details: cause.details,
      steps,
      quietUntil: start.kind === 'quiet' ? start.until : null,
      leadId: start.kind === 'with_lead' ? start.leadId : null,
    },
    timers,
    now,
  );
  if (incidentId === null) return null;
  await stores.timeline.record(incidentId, 'triggered', { rule: rule.name, cause: cause.sentence }, now);
  if (timers.length === 0) {
    const reason = rule.escalationPolicyId === null ? 'no_policy' : 'no_steps';
    await stores.timeline.record(incidentId, 'nobody_paged', { reason }, now);
  }
  await recordStart(unit, incidentId, start, cause.title);
  await recordSystemChange(unit, {
    orgId: rule.orgId,
    action: 'open_incident',
    via: 'rule',
    target: incidentId,
    before: null,
    after: { status: 'triggered', ruleId: rule.ruleId, title: cause.title },
  });
  startTimers(unit, incidentId, timers);
  return incidentId;
}

/** Says in the timelines why it does not page at once. */
async function recordStart(
  { stores, now }: UnitOfWork,
  incidentId: Id<'incident'>,
  start: PagingStart,
  title: string,
): Promise<void> {
  if (start.kind === 'at_once') return;
  if (start.kind === 'quiet') {
    const { until, maintenance } = start;
    await stores.timeline.record(incidentId, 'quiet', { until: toTimestamp(until), maintenance }, now);
    return;
  }
  const { leadId } = start;
  await stores.timeline.recordAll(
    [
      { incidentId, event: 'grouped', data: { leadId, title: start.title } },
      { incidentId: leadId, event: 'group_joined', data: { incidentId, title } },
    ],
    now,
  );
}
