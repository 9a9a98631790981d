import { FAR_FUTURE, isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { type EscalationStep, planSteps, stepAt, waitsForHours } from '#modules/policies/decide/escalation.ts';
import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';
import type { RuleSettings } from '#modules/rules/decide/rule_settings.ts';
import type { IncidentStatus } from './incident.ts';

export interface StepState {
  readonly stepIndex: number;
  readonly dueAt: Temporal.Instant;
  readonly state: 'pending' | 'fired' | 'skipped' | 'cancelled';
}

/** State of an incident's escalation: `none` without a policy, `paused` once somebody has acknowledged. */
interface EscalationState {
  readonly state: 'running' | 'paused' | 'finished' | 'none';
  readonly nextStep: number | null;
  /**
   * Due time of the next step; null also when time alone never fires it: another incident pages for this one, or the
   * step is too far ahead.
   */
  readonly nextStepAt: Temporal.Instant | null;
  /** Number of steps the incident has had: those of its policy at the trigger, and those added by changes since. */
  readonly stepCount: number;
}

export function escalationStateOf(status: IncidentStatus, steps: readonly StepState[]): EscalationState {
  const stepCount = Math.max(-1, ...steps.map(({ stepIndex }) => stepIndex)) + 1;
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
      const nextStepAt = isAtOrBefore(FAR_FUTURE, next.dueAt) ? null : next.dueAt;
      return { state: 'running', nextStep: next.stepIndex, nextStepAt, stepCount };
    }
  }
}

/** Reasons why an incident waits before its first page. */
export const WAITS_FOR = ['maintenance', 'incident', 'hours'] as const;
export type WaitsFor = (typeof WAITS_FOR)[number];

/**
 * Returns what keeps an open incident from paging: maintenance, an incident that pages for both, or hours that have not
 * begun; null if nothing does.
 */
export function waitsFor(
  incident: {
    readonly status: IncidentStatus;
    readonly suppressedUntil: Temporal.Instant | null;
    readonly parentId: unknown;
    readonly triggeredAt: Temporal.Instant;
    readonly steps: readonly EscalationStep[];
  },
  steps: readonly StepState[],
): WaitsFor | null {
  if (incident.status !== 'triggered' || steps.length === 0 || steps.some(({ state }) => state !== 'pending'))
    return null;
  if (incident.parentId !== null) return 'incident';
  if (incident.suppressedUntil !== null) return 'maintenance';
  const next = nextPending(steps);
  const step = next && stepAt(incident.steps, next.stepIndex);
  return next && step && waitsForHours(step, next.dueAt, incident.triggeredAt) ? 'hours' : null;
}

function nextPending(steps: readonly StepState[]): StepState | undefined {
  return steps
    .filter(({ state }) => state === 'pending')
    .toSorted((a, b) => a.dueAt.epochMilliseconds - b.dueAt.epochMilliseconds || a.stepIndex - b.stepIndex)
    .at(0);
}

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

type Instant = Temporal.Instant;

/** Returns when an acknowledged incident pages again if it is still open; null for never. */
export function staleAt(
  acknowledgedAt: Instant,
  { repageMinutes }: Pick<RuleSettings, 'repageMinutes'>,
): Instant | null {
  return repageMinutes === null ? null : acknowledgedAt.add({ minutes: repageMinutes });
}

/** Whether the acknowledgement of an incident has gone stale by now. */
export function isStale(
  { status, acknowledgedAt }: { readonly status: IncidentStatus; readonly acknowledgedAt: Instant | null },
  settings: Pick<RuleSettings, 'repageMinutes'>,
  now: Instant,
): boolean {
  if (status !== 'acknowledged' || acknowledgedAt === null) return false;
  const at = staleAt(acknowledgedAt, settings);
  return at !== null && isAtOrBefore(at, now);
}

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
