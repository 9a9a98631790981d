import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';
import type { Temporal } from '#kernel/time.ts';

/** State of an incident on which a change of its severity depends. */
export interface SeverityStanding {
  readonly status: IncidentStatus;
  readonly severity: string;
  /** The incident that pages for this one; null when it pages itself. */
  readonly parentId: string | null;
  /** Time until which its pages wait for the end of a maintenance; null if they do not wait. */
  readonly suppressedUntil: Temporal.Instant | null;
}

export type SeverityDecision =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'conflict'; readonly because: 'resolved' }
  | {
      readonly kind: 'change';
      readonly direction: 'raised' | 'lowered';
      /** Whether its first step may page anew: it is raised, nobody has answered, and nothing keeps it from paging. */
      readonly mayPage: boolean;
    };

/**
 * Decides what a new severity does to an incident, whether a tool or a person says so. A lower one changes no page that is
 * to come: those who were paged know, and the next step still asks for an answer.
 */
export function decideSeverity(standing: SeverityStanding, to: string, now: Temporal.Instant): SeverityDecision {
  const { status, severity, parentId, suppressedUntil } = standing;
  if (status === 'resolved') return { kind: 'conflict', because: 'resolved' };
  if (severity === to) return { kind: 'unchanged' };
  if (worseSeverity(severity, to) !== to) return { kind: 'change', direction: 'lowered', mayPage: false };
  const isSuppressed = suppressedUntil !== null && suppressedUntil.epochMilliseconds > now.epochMilliseconds;
  return {
    kind: 'change',
    direction: 'raised',
    mayPage: status === 'triggered' && parentId === null && !isSuppressed,
  };
}
