import { worseSeverity } from '#core/incidents/incident_limit.ts';
import type { Temporal } from '#kernel/time.ts';

/** An open incident of the service that might page for another one as well. */
export interface PossibleLead {
  readonly id: string;
  readonly escalationPolicyId: string | null;
  readonly severity: string;
  readonly triggeredAt: Temporal.Instant;
  readonly status: 'triggered' | 'acknowledged' | 'resolved';
  /** How many steps it has. */
  readonly steps: number;
  /** It waits for a maintenance to end, follows another incident, or stands for others. */
  readonly isBound: boolean;
}

/** What is about to open. */
export interface Opening {
  readonly escalationPolicyId: string | null;
  readonly severity: string;
  /** 0: it pages by itself. */
  readonly groupMinutes: number;
}

/** Of the incidents that followed one that has ended, oldest first: the one that pages from now on, for the rest as well. */
export function nextLead<Follower extends Pick<PossibleLead, 'status'>>(
  followers: readonly Follower[],
): Follower | null {
  return followers.find(({ status }) => status === 'triggered') ?? null;
}

/**
 * The incident that pages for what is about to open: one of the same service that pages the same policy, opened within the
 * minutes of the rule and is at least as severe; the oldest of them. Null: it pages by itself.
 */
export function findLead<Lead extends PossibleLead>(
  open: readonly Lead[],
  { escalationPolicyId, severity, groupMinutes }: Opening,
  now: Temporal.Instant,
): Lead | null {
  if (groupMinutes === 0 || escalationPolicyId === null) return null;
  const leads = open.filter((lead) => {
    const sinceMs = now.epochMilliseconds - lead.triggeredAt.epochMilliseconds;
    return (
      lead.status !== 'resolved' &&
      !lead.isBound &&
      lead.steps > 0 &&
      lead.escalationPolicyId === escalationPolicyId &&
      sinceMs <= groupMinutes * 60_000 &&
      worseSeverity(lead.severity, severity) === lead.severity
    );
  });
  const [oldest] = leads.toSorted((a, b) => a.triggeredAt.epochMilliseconds - b.triggeredAt.epochMilliseconds);
  return oldest ?? null;
}
