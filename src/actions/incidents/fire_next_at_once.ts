import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { stepAfter } from '#core/oncall/escalation.ts';
import { runEscalationStep } from '#jobs/run_escalation_step.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/**
 * Brings the step that follows forward to now: after one that reached nobody, or whose person has no channel left.
 * False when there is none, or it has fired already.
 */
export async function fireNextAtOnce(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  stepIndex: number,
): Promise<boolean> {
  const next = stepAfter(incident.steps, stepIndex);
  if (next === null || !(await stores.incidents.expediteStep(incident.id, next, now))) return false;
  enqueue(runEscalationStep, { incidentId: incident.id, stepIndex: next, isExpedited: true });
  return true;
}
