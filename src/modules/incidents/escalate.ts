import { decideEscalate, type EscalateDecision } from '#modules/incidents/decide/escalate.ts';
import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';
import { AppError } from '#kernel/errors.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

const REFUSED: Record<Extract<EscalateDecision, { kind: 'conflict' }>['because'], string> = {
  acknowledged: 'somebody has acknowledged this incident; reassign it to page somebody else',
  resolved: 'this incident is resolved; reopen it if it is not over',
  reassigned: 'this incident was reassigned meanwhile; look at the steps that it has now',
  no_such_step: 'this incident has no such step',
};

/**
 * Fires a step of an incident, which the caller has locked, at once because a person asks for it. Returns false when the
 * step has fired already; throws `conflict` when nothing may fire any more.
 */
export async function escalate(
  unit: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
  stepIndex: number,
): Promise<boolean> {
  const { stores, now, enqueue } = unit;
  const decision = decideEscalate(incident.status, await stores.stepTimers.listSteps([incident.id]), stepIndex, now);
  if (decision.kind === 'unchanged') return false;
  if (decision.kind === 'conflict') throw new AppError('conflict', REFUSED[decision.because]);
  await stores.stepTimers.expediteStep(incident.id, stepIndex, now, 'escalated');
  await stores.timeline.record(incident.id, 'escalated', { by, stepIndex }, now);
  enqueue(runEscalationStep, { incidentId: incident.id, stepIndex, isExpedited: true });
  return true;
}
