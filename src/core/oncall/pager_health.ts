import type { Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** The periodic work by which it is seen that rules are evaluated and that a pager is at work. */
export const WATCHED_WORK = {
  rules: ['evaluate_rules', 'evaluate_long_rules'],
  pager: ['bring_timers_back'],
} as const;

/** What stands between accepted data and a request to a provider; null where nothing waits. */
export interface PagerSigns {
  /** When the oldest event or point was accepted that waits in the queue, or on the disk of an API process. */
  readonly acceptedAt: Instant | null;
  /** The same, without services that send more than is read: their own data is late, and nobody else's. */
  readonly acceptedInShareAt: Instant | null;
  /** As of when all rules were last evaluated: of what was stored later they have seen nothing. */
  readonly rulesAsOf: Instant;
  /** When a pager process last did its rounds. */
  readonly pagerSeenAt: Instant;
  /** When the oldest step was due that has not fired. */
  readonly stepDueAt: Instant | null;
  /** When the oldest message was due of which no provider has been asked. */
  readonly messageDueAt: Instant | null;
}

/** How late what is late is, in seconds; 0 where nothing is. */
export interface PagerHealth {
  /** Since the oldest accepted event or point of which no rule knows. */
  readonly unseenDataSeconds: number;
  readonly overdueStepSeconds: number;
  readonly overdueMessageSeconds: number;
  readonly pagerSilentSeconds: number;
  /** What is wrong, in sentences; empty while people are paged in time. */
  readonly problems: readonly string[];
  /** Those of them for which no traffic should be sent here: a service that floods cannot bring them about. */
  readonly unreadyBecause: readonly string[];
}

/**
 * Long windows are evaluated every 12 seconds, and a worker that was killed is back at work within 10. Whatever is older
 * is not on its way but stuck.
 */
const UNSEEN_SECONDS_MAX = 30;
/** A pager does its rounds every 10 seconds. */
const SILENT_SECONDS_MAX = 30;
/** Pages leave within a second, and after a crash within 10. */
const OVERDUE_SECONDS_MAX = 15;

/** Whether somebody would be paged in time for what is accepted now, from one end to the other. */
export function judgePager(signs: PagerSigns, now: Instant): PagerHealth {
  const waitingSeconds = secondsSince(signs.acceptedAt, now);
  const waitingInShareSeconds = secondsSince(signs.acceptedInShareAt, now);
  const unevaluatedSeconds = secondsSince(signs.rulesAsOf, now);
  const pagerSilentSeconds = secondsSince(signs.pagerSeenAt, now);
  const overdueStepSeconds = secondsSince(signs.stepDueAt, now);
  const overdueMessageSeconds = secondsSince(signs.messageDueAt, now);
  const problem = (seconds: number, max: number, text: (age: string) => string): string[] =>
    seconds > max ? [text(`${Math.round(seconds)} s`)] : [];
  const waiting = (seconds: number): string[] =>
    problem(seconds, UNSEEN_SECONDS_MAX, (age) => `data accepted ${age} ago has not reached the rules`);
  const others = [
    ...problem(unevaluatedSeconds, UNSEEN_SECONDS_MAX, (age) => `rules were last evaluated ${age} ago`),
    ...problem(pagerSilentSeconds, SILENT_SECONDS_MAX, (age) => `no pager process has been at work for ${age}`),
    ...problem(overdueStepSeconds, OVERDUE_SECONDS_MAX, (age) => `an escalation step is overdue by ${age}`),
    ...problem(overdueMessageSeconds, OVERDUE_SECONDS_MAX, (age) => `a page is overdue by ${age}`),
  ];
  return {
    unseenDataSeconds: Math.max(waitingSeconds, unevaluatedSeconds),
    overdueStepSeconds,
    overdueMessageSeconds,
    pagerSilentSeconds,
    problems: [...waiting(waitingSeconds), ...others],
    unreadyBecause: [...waiting(waitingInShareSeconds), ...others],
  };
}

function secondsSince(then: Instant | null, now: Instant): number {
  return then === null ? 0 : Math.max(0, now.epochMilliseconds - then.epochMilliseconds) / 1000;
}
