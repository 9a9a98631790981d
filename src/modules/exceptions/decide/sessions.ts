/** Outcomes of the sessions of an application's release. */
export interface SessionCounts {
  readonly sessions: number;
  readonly errored: number;
  readonly crashed: number;
  readonly abnormal: number;
}

/** Returns the share of sessions that did not crash, in percent to two decimals; null when there were none. */
export function crashFreePercent({ sessions, crashed }: Pick<SessionCounts, 'sessions' | 'crashed'>): number | null {
  if (sessions <= 0) return null;
  const share = 1 - Math.min(crashed, sessions) / sessions;
  // Rounded down: 100 % means that none crashed.
  return Math.floor(share * 10_000) / 100;
}

/** Outcomes of sessions that did not go well, the worst last. */
const SESSION_OUTCOMES = ['errored', 'abnormal', 'crashed'] as const;
export type SessionOutcome = (typeof SESSION_OUTCOMES)[number];

/** Returns the worse of two outcomes of one session, which counts once; null for none yet. */
export function worseOutcome(before: SessionOutcome | null, next: SessionOutcome): SessionOutcome {
  return before !== null && SESSION_OUTCOMES.indexOf(before) >= SESSION_OUTCOMES.indexOf(next) ? before : next;
}
