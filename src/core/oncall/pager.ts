import type { Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** What should have happened by now and has not: the oldest of each kind, null for none. */
export interface Overdue {
  readonly stepDueAt: Instant | null;
  readonly messageDueAt: Instant | null;
}

/** How late the pager is; 0 when nothing is overdue. */
export interface PagerLateness {
  readonly overdueStepSeconds: number;
  readonly overdueMessageSeconds: number;
  /** Under load a second is normal; this late, somebody has to look. */
  readonly isDegraded: boolean;
}

const PATIENCE_SECONDS = 30;

export function pagerLateness({ stepDueAt, messageDueAt }: Overdue, now: Instant): PagerLateness {
  const [overdueStepSeconds, overdueMessageSeconds] = [secondsSince(stepDueAt, now), secondsSince(messageDueAt, now)];
  const isDegraded = Math.max(overdueStepSeconds, overdueMessageSeconds) > PATIENCE_SECONDS;
  return { overdueStepSeconds, overdueMessageSeconds, isDegraded };
}

function secondsSince(dueAt: Instant | null, now: Instant): number {
  return dueAt === null ? 0 : Math.max(0, now.epochMilliseconds - dueAt.epochMilliseconds) / 1000;
}
