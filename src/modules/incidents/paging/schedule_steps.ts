import type { PlannedStep } from '#modules/policies/decide/escalation.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';
import type { Id } from '#kernel/ids.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';
import { followedBy, INCIDENT_STEPS_MAX, planReassignment } from '#modules/incidents/decide/reassignment.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import type { IncidentRun } from '#modules/policies/read_run.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

/**
 * Restarts the timers of steps after the clock was set back, which would delay them by that much. The true elapsed time
 * is unknown then, so each wait starts again: no step waits for longer than its policy says.
 */
export async function restartTimers({ db, clock }: { readonly db: Database; readonly clock: Clock }): Promise<void> {
  await storesOf(db.session()).stepTimers.restartTimers(clock.now());
}

/**
 * Lets the first step of a run page at once and the others follow, in place of the steps that are left of an incident,
 * which the caller has locked. Returns false where the run has no steps.
 */
export async function pageAnew(unit: UnitOfWork, incident: IncidentRow, run: IncidentRun): Promise<boolean> {
  const { stores, now } = unit;
  if (run.steps.length === 0 || run.steps.length > INCIDENT_STEPS_MAX) return false;
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const plan = planReassignment({ ...incident, timers }, { kind: 'policy', steps: run.steps }, now);
  await stores.stepTimers.supersedeSteps(incident.id, now);
  await stores.notifications.supersedeCancelled(incident.id, now);
  const steps = followedBy(incident.steps, plan.steps);
  const { escalationPolicyId, teamId } = run;
  await stores.incidents.reassign(
    { id: incident.id, steps, escalationPolicyId, teamId, repeats: repeatsOf(run) },
    plan.timers,
    now,
  );
  scheduleSteps(unit, incident.id, plan.timers);
  return true;
}

/** Wakes somebody up when each of these timers is due; the timers themselves are rows. */
export function scheduleSteps(
  { enqueue }: UnitOfWork,
  incidentId: Id<'incident'>,
  timers: readonly PlannedStep[],
): void {
  for (const { stepIndex, dueAt } of timers) enqueue(runEscalationStep, { incidentId, stepIndex }, dueAt);
}
