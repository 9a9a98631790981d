import type { Temporal } from '#kernel/time.ts';
import type { IncidentStatus } from './incident.ts';

export interface StepState {
  readonly stepIndex: number;
  readonly dueAt: Temporal.Instant;
  readonly state: 'pending' | 'fired' | 'skipped' | 'cancelled';
}

/** Where an incident's escalation stands: `none` without a policy, `paused` once somebody has acknowledged. */
export interface EscalationState {
  readonly state: 'running' | 'paused' | 'finished' | 'none';
  readonly nextStep: number | null;
  readonly nextStepAt: Temporal.Instant | null;
  /** How many steps the policy had at the trigger. */
  readonly stepCount: number;
}

export function escalationStateOf(status: IncidentStatus, steps: readonly StepState[]): EscalationState {
  const stepCount = steps.length;
  const idle = { nextStep: null, nextStepAt: null, stepCount };
  if (stepCount === 0) return { state: 'none', ...idle };
  switch (status) {
    case 'acknowledged':
      return { state: 'paused', ...idle };
    case 'resolved':
      return { state: 'finished', ...idle };
    case 'triggered': {
      const next = nextPending(steps);
      if (next === undefined) return { state: 'finished', ...idle };
      return { state: 'running', nextStep: next.stepIndex, nextStepAt: next.dueAt, stepCount };
    }
  }
}

function nextPending(steps: readonly StepState[]): StepState | undefined {
  return steps
    .filter(({ state }) => state === 'pending')
    .toSorted((a, b) => a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds || a.stepIndex - b.stepIndex)
    .at(0);
}
