import { type EscalationStep, type PlannedStep, stepAt, waitsForHours } from '#modules/policies/decide/escalation.ts';
import type { StepTimerRow } from '#modules/incidents/decide/escalation_state.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { moveBehind, waitsUntil } from '#modules/policies/decide/rounds.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Returns the timeline event of an incident whose first step waits for hours to begin; none when it does not. */
export function heldEventsOf(
  incidentId: Id<'incident'>,
  steps: readonly EscalationStep[],
  timers: readonly PlannedStep[],
  now: Temporal.Instant,
) {
  const [first] = timers.toSorted((a, b) => a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds);
  const step = first && stepAt(steps, first.stepIndex);
  if (first === undefined || step === undefined || !waitsForHours(step, first.dueAt, now)) return [];
  return [{ incidentId, event: 'held', data: { stepIndex: first.stepIndex, until: toTimestamp(first.dueAt) } }];
}

/**
 * Moves a step that is due outside its hours to where they begin, with those that come due meanwhile. Returns when it is
 * due then; null when it may fire, or is no longer pending.
 */
export async function holdStep(
  unit: UnitOfWork,
  incident: IncidentRow,
  stepIndex: number,
): Promise<Temporal.Instant | null> {
  const step = stepAt(incident.steps, stepIndex);
  if (step?.hours === undefined) return null;
  const { stores, now } = unit;
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const timer = timers.find((candidate) => candidate.stepIndex === stepIndex);
  if (timer === undefined || !isDue(timer, now)) return null;
  const until = waitsUntil(step, timer, now);
  if (until === null) return null;
  const moved = moveBehind(timers, stepIndex, until);
  for (const { stepIndex: index, dueAt } of moved) {
    const from = timers.find((candidate) => candidate.stepIndex === index)?.dueAt;
    if (from !== undefined) await stores.stepTimers.moveStep(incident.id, index, from, dueAt);
  }
  await stores.timeline.record(incident.id, 'held', { stepIndex, until: toTimestamp(until) }, now);
  scheduleSteps(unit, incident.id, moved);
  return until;
}

function isDue({ state, dueAt }: StepTimerRow, now: Temporal.Instant): boolean {
  return state === 'pending' && dueAt.epochMilliseconds <= now.epochMilliseconds;
}
