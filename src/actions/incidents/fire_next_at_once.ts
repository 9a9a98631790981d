import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { stepAfter } from '#core/oncall/escalation.ts';
import { runEscalationStep } from '#jobs/run_escalation_step.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/** The step that follows fires now, has fired before, or there is none. */
export type Following = 'now' | 'before' | 'none';

/** Brings the step that follows forward to now: after one that reached nobody, or whose person has no channel left. */
export async function fireNextAtOnce(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  stepIndex: number,
): Promise<Following> {
  const next = stepAfter(incident.steps, stepIndex);
  if (next === null) return 'none';
  if (!(await stores.incidents.expediteStep(incident.id, next, now))) return 'before';
  enqueue(runEscalationStep, { incidentId: incident.id, stepIndex: next, isExpedited: true });
  return 'now';
}

/** Waits no longer for somebody whose last channel has failed, and says so in the timeline. */
export async function passOver(
  unit: UnitOfWork,
  incident: IncidentRow,
  stepIndex: number,
  userId: Id<'user'>,
): Promise<void> {
  const next = await fireNextAtOnce(unit, incident, stepIndex);
  await unit.stores.incidents.recordEvent(incident.id, 'person_unreachable', { userId, stepIndex, next }, unit.now);
}
