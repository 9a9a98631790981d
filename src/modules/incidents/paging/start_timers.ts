import type { PlannedStep } from '#modules/policies/decide/escalation.ts';
import { runEscalationStep } from '#storage/queue/jobs/run_escalation_step.ts';
import type { Id } from '#kernel/ids.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** Wakes somebody up when each of these timers is due; the timers themselves are rows. */
export function startTimers({ enqueue }: UnitOfWork, incidentId: Id<'incident'>, timers: readonly PlannedStep[]): void {
  for (const { stepIndex, dueAt } of timers) enqueue(runEscalationStep, { incidentId, stepIndex }, dueAt);
}
