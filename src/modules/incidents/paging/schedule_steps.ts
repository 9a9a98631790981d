import type { Log } from '#kernel/log.ts';
import { minutesStopped, type PlannedStep, stepAfter } from '#modules/policies/decide/escalation.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';
import type { Id } from '#kernel/ids.ts';
import { INCIDENT_STEPS_MAX, planReassignment, replacedBy } from '#modules/incidents/decide/reassignment.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import type { IncidentRun } from '#modules/policies/read_run.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { type Clock, toTimestamp } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';

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
  const steps = replacedBy(incident.steps, plan.steps);
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

/**
 * The first pager after a restore calls this before it does anything else. The installation was away since the backup was
 * made: escalations go on from where they stopped, so that steps that came due meanwhile do not page everybody in the same
 * second, and the provider is asked about pages that may have left after the backup. Later calls change nothing.
 */
export async function resumeAfterRestore(runtime: UnitOfWorkRuntime, log: Log): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores: { restorations, timeline }, now }) => {
    const snapshotAt = await restorations.lockWaiting();
    if (snapshotAt === null) return;
    const minutes = minutesStopped(snapshotAt, now);
    const pages = await restorations.markWaitingPagesUncertain();
    const news = minutes === 0 ? 0 : await restorations.cancelNews('restored', now);
    const waiting = minutes === 0 ? [] : await restorations.postponeSteps(minutes);
    const data = { snapshotAt: toTimestamp(snapshotAt), laterMinutes: minutes };
    await timeline.recordAll(
      waiting.map((incidentId) => ({ incidentId, event: 'restored', data })),
      now,
    );
    await restorations.markResumed(now);
    log.warn({ ...data, incidents: waiting.length, pages, news }, 'escalations continue after a restore');
  });
}
