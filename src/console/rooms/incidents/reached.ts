import type { IncidentWithLog } from '#console/api/actions.ts';

type Notification = IncidentWithLog['notifications'][number];

export interface Reached {
  readonly userId: string;
  /** The best that any message to this person has come to. */
  readonly outcome: 'delivered' | 'sent' | 'on_its_way' | 'failed';
}

const FROM_BEST = ['delivered', 'sent', 'on_its_way', 'failed'] as const;

/** Whom the pages of an incident have reached, those who were reached best first. News about it is no page. */
export function whoWasReached(notifications: readonly Notification[]): Reached[] {
  const pages = notifications.filter(
    ({ step, status }) => step !== null && status !== 'skipped' && status !== 'cancelled',
  );
  const byUser = Map.groupBy(pages, ({ userId }) => userId);
  const rank = ({ outcome }: Reached) => FROM_BEST.indexOf(outcome);
  return [...byUser]
    .map(([userId, entries]) => {
      const outcomes = new Set(entries.map(outcomeOf));
      return { userId, outcome: FROM_BEST.find((outcome) => outcomes.has(outcome)) ?? 'failed' };
    })
    .sort((a, b) => rank(a) - rank(b));
}

function outcomeOf({ status }: Notification): Reached['outcome'] {
  switch (status) {
    case 'delivered':
    case 'sent':
    case 'failed':
      return status;
    case 'queued':
      return 'on_its_way';
    case 'skipped':
    case 'cancelled':
      return 'failed';
  }
}

export const OUTCOME_WORDS: Record<Reached['outcome'], string> = {
  delivered: 'reached',
  sent: 'sent to',
  on_its_way: 'on its way to',
  failed: 'did not reach',
};
