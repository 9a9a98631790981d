import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';
import type { Temporal } from '#kernel/time.ts';

/** An open incident of the service that might page for another one as well. */
export interface PossibleParent {
  readonly id: string;
  readonly escalationPolicyId: string | null;
  readonly severity: string;
  readonly triggeredAt: Temporal.Instant;
  readonly status: 'triggered' | 'acknowledged' | 'resolved';
  /** Number of its escalation steps. */
  readonly steps: number;
  /** Whether it waits for a maintenance to end, follows another incident, or stands for others. */
  readonly isBound: boolean;
}

/** An incident that is about to open. */
export interface Opening {
  readonly escalationPolicyId: string | null;
  readonly severity: string;
  /** Minutes within which it follows another incident; 0: it pages by itself. */
  readonly groupMinutes: number;
}

/** Returns the child (of these, oldest first) that pages once the parent has ended, for the rest too; null if none. */
export function nextParent<Child extends Pick<PossibleParent, 'status'>>(children: readonly Child[]): Child | null {
  return children.find(({ status }) => status === 'triggered') ?? null;
}

/**
 * Returns the incident that pages for what is about to open: one of the same service that pages the same policy, opened
 * within the minutes of the rule and is at least as severe; the oldest of them. Null: it pages by itself.
 */
export function findParent<Parent extends PossibleParent>(
  open: readonly Parent[],
  { escalationPolicyId, severity, groupMinutes }: Opening,
  now: Temporal.Instant,
): Parent | null {
  if (groupMinutes === 0 || escalationPolicyId === null) return null;
  const parents = open.filter((parent) => {
    const sinceMs = now.epochMilliseconds - parent.triggeredAt.epochMilliseconds;
    return (
      parent.status !== 'resolved' &&
      !parent.isBound &&
      parent.steps > 0 &&
      parent.escalationPolicyId === escalationPolicyId &&
      sinceMs <= groupMinutes * 60_000 &&
      worseSeverity(parent.severity, severity) === parent.severity
    );
  });
  const [oldest] = parents.toSorted((a, b) => a.triggeredAt.epochMilliseconds - b.triggeredAt.epochMilliseconds);
  return oldest ?? null;
}
