import type { Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** The periodic work that shows that rules are evaluated and that a pager runs. */
export const WATCHED_WORK = { rules: ['evaluate_rules', 'evaluate_long_rules'], pager: ['bring_timers_back'] } as const;

/** Signs of delay between accepted data and the request to a provider; null if nothing waits. */
export interface PagerHeartbeat {
  /** Time when the oldest event or point was accepted that waits in the queue, or on the disk of an API process. */
  readonly acceptedAt: Instant | null;
  /** Time as above without services that send more than can be processed: only their own data is late. */
  readonly acceptedInShareAt: Instant | null;
  /** Time of the last evaluation of all rules: they have not seen what was stored later. */
  readonly rulesAsOf: Instant;
  /** Time until which the worker processes last reported that they are alive; null if none has since it was stopped. */
  readonly workerAliveUntil: Instant | null;
  /** Time when a pager process last did its periodic work. */
  readonly pagerSeenAt: Instant;
  /** Due time of the oldest step that has not fired. */
  readonly stepDueAt: Instant | null;
  /** Due time of the oldest message that has not been sent to a provider. */
  readonly messageDueAt: Instant | null;
}

/** Delays in seconds, 0 when nothing is late, and the problems that they cause. */
export interface PagerHealth {
  /** Seconds since the oldest accepted event or point that no rule has seen. */
  readonly unseenDataSeconds: number;
  readonly overdueStepSeconds: number;
  readonly overdueMessageSeconds: number;
  readonly pagerSilentSeconds: number;
  /** Seconds since the worker that reported last is frozen or gone. */
  readonly workerSilentSeconds: number;
  /** Problems as sentences; empty while people are paged in time. */
  readonly problems: readonly string[];
  /** Problems for which an external watchdog is told nothing, so that it alerts people. */
  readonly alarms: readonly string[];
  /** Problems of pagers for which an API process should get no traffic. */
  readonly unreadyBecause: readonly string[];
  /** Problems of rules, for which it should get none unless a store is away; a service's flood cannot cause them. */
  readonly rulesBehindBecause: readonly string[];
}

/**
 * Longest wait of data before it counts as stuck: long windows are evaluated every 12 seconds, and a worker that was
 * killed works again within 10.
 */
const UNSEEN_SECONDS_MAX = 30;
/**
 * Longest silence of all workers for which heartbeats still leave: a busy machine delays their word that they are alive
 * for two seconds more, which each gives twice a second. Health checks tell of any.
 */
const WORKER_SILENT_SECONDS_MAX = 10;
/** Longest silence of a pager, which does its periodic work every 10 seconds. */
const SILENT_SECONDS_MAX = 30;
/** Longest delay of a page: pages leave within a second, or within 10 seconds after a crash. */
const OVERDUE_SECONDS_MAX = 15;

/** Whether people would be paged in time for data that is accepted now. */
export function judgePager(signs: PagerHeartbeat, now: Instant): PagerHealth {
  const waitingSeconds = secondsSince(signs.acceptedAt, now);
  const waitingInShareSeconds = secondsSince(signs.acceptedInShareAt, now);
  const unevaluatedSeconds = secondsSince(signs.rulesAsOf, now);
  const workerSilentSeconds = secondsSince(signs.workerAliveUntil, now);
  const pagerSilentSeconds = secondsSince(signs.pagerSeenAt, now);
  const overdueStepSeconds = secondsSince(signs.stepDueAt, now);
  const overdueMessageSeconds = secondsSince(signs.messageDueAt, now);
  const problem = (seconds: number, max: number, text: (age: string) => string): string[] =>
    seconds > max ? [text(`${Math.round(seconds)} s`)] : [];
  const waiting = (seconds: number): string[] =>
    problem(seconds, UNSEEN_SECONDS_MAX, (age) => `data accepted ${age} ago has not reached the rules`);
  const unevaluated = problem(unevaluatedSeconds, UNSEEN_SECONDS_MAX, (age) => `rules were last evaluated ${age} ago`);
  const ofPagers = [
    ...problem(pagerSilentSeconds, SILENT_SECONDS_MAX, (age) => `no pager process has been at work for ${age}`),
    ...problem(overdueStepSeconds, OVERDUE_SECONDS_MAX, (age) => `an escalation step is overdue by ${age}`),
    ...problem(overdueMessageSeconds, OVERDUE_SECONDS_MAX, (age) => `a page is overdue by ${age}`),
  ];
  const silent = problem(
    workerSilentSeconds,
    0,
    (age) =>
      `no worker process has been alive for ${age}: it is frozen or gone, and nothing that arrives opens an incident`,
  );
  const lasting = workerSilentSeconds > WORKER_SILENT_SECONDS_MAX ? silent : [];
  return {
    unseenDataSeconds: Math.max(waitingSeconds, unevaluatedSeconds),
    overdueStepSeconds,
    overdueMessageSeconds,
    pagerSilentSeconds,
    workerSilentSeconds,
    problems: [...waiting(waitingSeconds), ...unevaluated, ...silent, ...ofPagers],
    alarms: [...waiting(waitingSeconds), ...unevaluated, ...lasting, ...ofPagers],
    unreadyBecause: ofPagers,
    rulesBehindBecause: [...waiting(waitingInShareSeconds), ...unevaluated],
  };
}

function secondsSince(then: Instant | null, now: Instant): number {
  return then === null ? 0 : Math.max(0, now.epochMilliseconds - then.epochMilliseconds) / 1000;
}
