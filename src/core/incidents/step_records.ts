import type { StepState } from '#core/incidents/escalation_state.ts';
import type { EscalationStep } from '#core/oncall/escalation.ts';
import { planSteps } from '#core/oncall/escalation.ts';
import type { NotificationStatus } from '#core/oncall/recipients.ts';
import type { Temporal } from '#kernel/time.ts';

/** The timer of a step, with when and why it came to its end. */
export interface StepTimerRow extends StepState {
  /** When it fired, was skipped or was cancelled; null while it is pending. */
  readonly settledAt: Temporal.Instant | null;
  readonly reason: string | null;
}

/** A page as the log has it: the step that sent it, its person, and how far it has come. */
interface LoggedPage {
  readonly stepIndex: number | null;
  readonly userId: string;
  readonly status: NotificationStatus | 'sending';
}

/** Somebody whom a step was to page, with the best that any of its messages to them has come to. */
interface PagedPerson {
  readonly userId: string;
  readonly status: NotificationStatus;
}

/** One step of an incident: what the policy said at the trigger, and what became of it. */
export interface StepRecord extends EscalationStep {
  readonly index: number;
  /** When it fires or fired: earlier than planned when it was brought forward. */
  readonly dueAt: Temporal.Instant;
  readonly isBroughtForward: boolean;
  readonly state: StepState['state'];
  readonly settledAt: Temporal.Instant | null;
  readonly reason: string | null;
  readonly people: readonly PagedPerson[];
}

/** From the best to the least that can become of a page. */
const FROM_BEST = ['delivered', 'sent', 'queued', 'failed', 'cancelled', 'skipped'] as const;

/**
 * The steps of an incident as they were at the trigger, with what became of each. The policy of today plays no part: it
 * may have been changed or deleted since.
 */
export function recordSteps(
  incident: { readonly steps: readonly EscalationStep[]; readonly triggeredAt: Temporal.Instant },
  timers: readonly StepTimerRow[],
  pages: readonly LoggedPage[],
): StepRecord[] {
  const planned = planSteps(incident.steps, incident.triggeredAt);
  const byIndex = new Map(timers.map((timer) => [timer.stepIndex, timer]));
  const ofStep = Map.groupBy(pages, ({ stepIndex }) => stepIndex);
  return planned.flatMap(({ stepIndex: index, dueAt: plannedAt }) => {
    const [step, timer] = [incident.steps[index], byIndex.get(index)];
    if (step === undefined || timer === undefined) return [];
    const { dueAt, state, settledAt, reason } = timer;
    const isBroughtForward = dueAt.epochMilliseconds < plannedAt.epochMilliseconds;
    return [{ ...step, index, dueAt, isBroughtForward, state, settledAt, reason, people: peopleOf(ofStep.get(index)) }];
  });
}

function peopleOf(pages: readonly LoggedPage[] = []): PagedPerson[] {
  return [...Map.groupBy(pages, ({ userId }) => userId)].map(([userId, own]) => {
    const statuses = new Set(own.map(({ status }) => (status === 'sending' ? 'queued' : status)));
    return { userId, status: FROM_BEST.find((status) => statuses.has(status)) ?? 'skipped' };
  });
}
