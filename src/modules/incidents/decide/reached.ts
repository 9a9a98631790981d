import type { NotificationStatus } from '#modules/policies/decide/recipients.ts';

/** The best outcome of all messages to a person; the best first. */
export const REACH_OUTCOMES = ['delivered', 'sent', 'on_its_way', 'failed'] as const;

export type ReachOutcome = (typeof REACH_OUTCOMES)[number];

export interface Reached<UserId> {
  readonly userId: UserId;
  readonly outcome: ReachOutcome;
}

/** Returns the people whom an incident's pages have reached, best outcome first. Pages never sent do not count. */
export function whoWasReached<UserId>(
  pages: readonly { readonly userId: UserId; readonly status: NotificationStatus }[],
): Reached<UserId>[] {
  const byUser = Map.groupBy(pages, ({ userId }) => userId);
  return [...byUser]
    .flatMap(([userId, entries]): Reached<UserId>[] => {
      const outcomes = new Set(entries.map(({ status }) => outcomeOf(status)));
      const outcome = REACH_OUTCOMES.find((candidate) => outcomes.has(candidate));
      return outcome === undefined ? [] : [{ userId, outcome }];
    })
    .toSorted((a, b) => REACH_OUTCOMES.indexOf(a.outcome) - REACH_OUTCOMES.indexOf(b.outcome));
}

function outcomeOf(status: NotificationStatus): ReachOutcome | null {
  switch (status) {
    case 'delivered':
    case 'sent':
    case 'failed':
      return status;
    case 'queued':
      return 'on_its_way';
    case 'skipped':
    case 'cancelled':
      return null;
  }
}
