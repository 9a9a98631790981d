import type { StepState } from '#modules/incidents/decide/escalation_state.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

/** Outcome of a request to fire a step at once. */
export type EscalateDecision =
  | { readonly kind: 'fire_now' }
  /** The step fires just now, has fired or was skipped: two people asked for the same. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly because: 'acknowledged' | 'resolved' | 'reassigned' | 'no_such_step' };

/**
 * Decides whether a step may fire before its time because somebody asks for it. They name the step that they saw
 * coming, so that two who ask at once bring one step forward and not two. Nothing fires once somebody has acknowledged.
 */
export function decideEscalate(
  status: IncidentStatus,
  steps: readonly StepState[],
  stepIndex: number,
  now: Temporal.Instant,
): EscalateDecision {
  if (status !== 'triggered') return { kind: 'conflict', because: status };
  const step = steps.find((step) => step.stepIndex === stepIndex);
  switch (step?.state) {
    case undefined:
      return { kind: 'conflict', because: 'no_such_step' };
    case 'pending':
      return isAtOrBefore(step.dueAt, now) ? { kind: 'unchanged' } : { kind: 'fire_now' };
    case 'fired':
    case 'skipped':
      return { kind: 'unchanged' };
    case 'cancelled':
      return { kind: 'conflict', because: 'reassigned' };
  }
}
