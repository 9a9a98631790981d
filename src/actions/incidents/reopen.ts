import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { tellOthers } from '#actions/incidents/tell_others.ts';
import { decideReopen, decideUnacknowledge, type SettledBy } from '#core/incidents/incident.ts';
import { resumeTimers } from '#core/oncall/escalation.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import { runEscalationStep } from '#jobs/run_escalation_step.ts';
import { AppError } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/**
 * Takes back that an incident was resolved; the caller has locked it, and its cause before it. It is
 * acknowledged again if it was, and else its escalation goes on. False when it is open already; `conflict` when its
 * cause has opened another meanwhile, or its exception group is settled.
 */
export async function reopen(unit: UnitOfWork, incident: IncidentRow, by: SettledBy): Promise<boolean> {
  const decision = decideReopen(incident);
  if (decision.kind === 'unchanged') return false;
  await requireOpenCause(unit, incident);
  if (!(await unit.stores.incidents.reopen(incident.id, decision.to, unit.now))) {
    throw new AppError('conflict', 'its cause has opened a new incident meanwhile; take care of that one');
  }
  const resumed = decision.to === 'triggered' ? await resume(unit, incident, incident.resolvedAt) : 0;
  const told = await takeBackNews(unit, incident, 'resolved', by);
  const data = { by, status: decision.to, resumedMessages: resumed, told };
  await unit.stores.incidents.recordEvent(incident.id, 'reopened', data, unit.now);
  return true;
}

/**
 * Takes back that an incident, which the caller has locked, was acknowledged: its escalation goes on. False when nobody
 * has acknowledged it; `conflict` when it is resolved.
 */
export async function unacknowledge(unit: UnitOfWork, incident: IncidentRow, by: SettledBy): Promise<boolean> {
  const decision = decideUnacknowledge(incident.status);
  if (decision === 'unchanged') return false;
  if (decision === 'conflict') {
    throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
  }
  await unit.stores.incidents.reopen(incident.id, 'triggered', unit.now);
  const resumed = await resume(unit, incident, incident.acknowledgedAt);
  const told = await takeBackNews(unit, incident, 'acknowledged', by);
  await unit.stores.incidents.recordEvent(
    incident.id,
    'unacknowledged',
    { by, resumedMessages: resumed, told },
    unit.now,
  );
  return true;
}

/** Until the transaction ends, what has opened the incident opens no other. Take it before the incident. */
export async function lockCause({ stores }: UnitOfWork, { ruleId, exceptionGroupId }: IncidentRow): Promise<void> {
  if (exceptionGroupId !== null) await stores.exceptionGroups.lockStatus(exceptionGroupId);
  else if (ruleId !== null) await stores.activeRules.lockDecision(ruleId);
}

/** An incident of a group that people have dealt with is over, whoever wants it open. */
async function requireOpenCause({ stores }: UnitOfWork, { exceptionGroupId }: IncidentRow): Promise<void> {
  if (exceptionGroupId === null) return;
  const status = await stores.exceptionGroups.lockStatus(exceptionGroupId);
  if (status === null || status === 'unresolved') return;
  throw new AppError('conflict', `its exception group is ${status}; set the group to unresolved first`);
}

/** Sets the timers and sends the pages that the answer has stopped; resolves to how many pages there were. */
async function resume(
  { stores, now, enqueue }: UnitOfWork,
  { id }: IncidentRow,
  stoppedAt: Temporal.Instant | null,
): Promise<number> {
  const stopped = (await stores.incidents.listSteps([id])).filter(({ state }) => state === 'cancelled');
  const timers = resumeTimers(stopped, stoppedAt ?? now, now);
  await stores.incidents.resumeSteps(id, timers);
  for (const { stepIndex, dueAt } of timers) enqueue(runEscalationStep, { incidentId: id, stepIndex }, dueAt);
  const pages = await stores.notifications.requeueCancelled(id, now);
  for (const notificationId of pages) enqueue(deliverPage, { notificationId });
  return pages.length;
}

/** News that have not left never do; whoever has got them is told that the incident is open again. */
async function takeBackNews(
  unit: UnitOfWork,
  incident: IncidentRow,
  news: 'acknowledged' | 'resolved',
  by: SettledBy,
): Promise<string[]> {
  const told = await unit.stores.notifications.takeBackNews(incident.id, news, unit.now);
  return await tellOthers(unit, incident, told, 'reopened', by);
}
