import { type StepState, waitsFor, type WaitsFor } from '#modules/incidents/decide/escalation_state.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { planSteps, stepAt } from '#modules/policies/decide/escalation.ts';
import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';
import { FAR_FUTURE, isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';

/** The timer of a step, with the time and the reason of its end. */
export interface StepTimerRow extends StepState {
  /** Time at which it fired, was skipped or was cancelled; null while it is pending. */
  readonly settledAt: Temporal.Instant | null;
  readonly reason: string | null;
}

interface LoggedPage {
  readonly stepIndex: number | null;
  readonly userId: string;
  readonly status: NotificationStatus | 'sending';
}

/** A person whom a step was to page, with the best outcome of its messages to them. */
interface PagedPerson {
  readonly userId: string;
  readonly status: NotificationStatus;
}

/** A step of the policy as it was at the trigger, and what happened to it. */
export interface StepRecord extends Omit<EscalationStep, 'countsFrom'> {
  readonly index: number;
  /** Time from which its minutes count; null while it is unknown: another incident pages for this one. */
  readonly countsFrom: string | null;
  /** Time at which it fires or fired: earlier than planned if brought forward. Null when time alone never fires it. */
  readonly dueAt: Temporal.Instant | null;
  /** Cause that keeps a pending step from paging. */
  readonly waitsFor: WaitsFor | null;
  readonly isBroughtForward: boolean;
  readonly state: StepState['state'];
  readonly settledAt: Temporal.Instant | null;
  readonly reason: string | null;
  readonly people: readonly PagedPerson[];
}

/** Start of the minutes of steps while another incident pages for theirs. */
const NEVER = toTimestamp(FAR_FUTURE);

/** The outcomes of a page, the best first. */
const FROM_BEST = ['delivered', 'sent', 'queued', 'failed', 'cancelled', 'skipped'] as const;

/**
 * Returns the steps of an incident as they were at the trigger, with what happened to each. The current policy does not
 * matter: it may have been changed or deleted since.
 */
export function toStepRecords(
  incident: {
    readonly status: IncidentStatus;
    readonly steps: readonly EscalationStep[];
    readonly triggeredAt: Temporal.Instant;
    readonly suppressedUntil: Temporal.Instant | null;
    readonly parentId: unknown;
  },
  timers: readonly StepTimerRow[],
  pages: readonly LoggedPage[],
): StepRecord[] {
  const planned = planSteps(incident.steps, incident.triggeredAt);
  const byIndex = new Map(timers.map((timer) => [timer.stepIndex, timer]));
  const ofStep = Map.groupBy(pages, ({ stepIndex }) => stepIndex);
  const waits = waitsFor(incident, timers);
  return planned.flatMap(({ stepIndex: index, dueAt: plannedAt }) => {
    const [step, timer] = [stepAt(incident.steps, index), byIndex.get(index)];
    if (step === undefined || timer === undefined) return [];
    const { dueAt, state, settledAt, reason } = timer;
    const { countsFrom = toTimestamp(incident.triggeredAt) } = step;
    return [
      {
        ...step,
        index,
        countsFrom: countsFrom === NEVER ? null : countsFrom,
        dueAt: isAtOrBefore(FAR_FUTURE, dueAt) ? null : dueAt,
        isBroughtForward: dueAt.epochMilliseconds < plannedAt.epochMilliseconds,
        waitsFor: state === 'pending' ? waits : null,
        state,
        settledAt,
        reason,
        people: peopleOf(ofStep.get(index)),
      },
    ];
  });
}

function peopleOf(pages: readonly LoggedPage[] = []): PagedPerson[] {
  return [...Map.groupBy(pages, ({ userId }) => userId)].map(([userId, ofPerson]) => {
    const statuses = new Set(ofPerson.map(({ status }) => (status === 'sending' ? 'queued' : status)));
    return { userId, status: FROM_BEST.find((status) => statuses.has(status)) ?? 'skipped' };
  });
}
