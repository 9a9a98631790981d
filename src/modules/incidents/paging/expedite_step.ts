import { stepAfter } from '#modules/policies/decide/escalation.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** The next step fires now, has fired before, or there is none. The timeline stores it. */
type NextStep = 'now' | 'before' | 'none';

/** Makes the step after this one due now: this one reached nobody, or not everybody. */
export async function fireNextStep(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  stepIndex: number,
): Promise<NextStep> {
  const next = stepAfter(incident.steps, stepIndex);
  if (next === null) return 'none';
  if (!(await stores.stepTimers.expediteStep(incident.id, next, now))) return 'before';
  enqueue(runEscalationStep, { incidentId: incident.id, stepIndex: next, isExpedited: true });
  return 'now';
}

/**
 * Fires the next step at once, as every channel of the person has failed in this step, and records the reason in the
 * timeline.
 */
export async function skipUnreachablePerson(
  unit: UnitOfWork,
  incident: IncidentRow,
  stepIndex: number,
  userId: Id<'user'>,
): Promise<void> {
  const next = await fireNextStep(unit, incident, stepIndex);
  await unit.stores.timeline.record(incident.id, 'person_unreachable', { userId, stepIndex, next }, unit.now);
}
