import type { Temporal } from '#kernel/time.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import type { IncidentStatus } from './incident.ts';
import { RULE_KIND_NAMES, RULE_KINDS, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';

export const CAUSE_KINDS: readonly CauseKind[] = [...RULE_KIND_NAMES, 'alert'];

export const INCIDENT_KINDS: readonly IncidentKind[] = [...CAUSE_KINDS, 'manual'];

/** Limit on the incidents that a service opens within some minutes, for each kind of cause. Others join a storm. */
export interface IncidentLimit {
  /** Number of incidents; Infinity for no limit. */
  readonly incidents: number;
  readonly minutes: number;
}

/** Returns how many more incidents may open, after `recent` causes within the minutes of the limit. */
export function remainingIncidents(recent: number, { incidents }: IncidentLimit): number {
  return Math.max(0, incidents - recent);
}

/** A storm with a single member has the title of that member. */
export function stormTitle(kind: CauseKind, members: number, serviceName: string, onlyTitle: string): string {
  return members === 1 ? onlyTitle : `${members} more ${causesText(kind)} in ${serviceName}`;
}

const SEVERITIES: readonly string[] = LEVELS;

export function worseSeverity(a: string, b: string): string {
  return SEVERITIES.indexOf(a) >= SEVERITIES.indexOf(b) ? a : b;
}

/** Kind of cause that opens incidents without a person: a kind of rule, or an alert of another tool. */
export type CauseKind = RuleKind | 'alert';

/** Kind of what opened an incident: a kind of cause, or a person. */
export type IncidentKind = CauseKind | 'manual';

/** Several causes in the title of an incident that stands for them. */
function causesText(kind: CauseKind): string {
  return kind === 'alert' ? 'alerts' : RULE_KINDS[kind].causes;
}

/** Returns the kind of data from which a cause of this kind arises. */
export function ingestedFor(kind: CauseKind): 'points' | 'events' | 'alerts' {
  return kind === 'alert' ? 'alerts' : RULE_KINDS[kind].ingests;
}

/** State of an incident on which a change of its severity depends. */
export interface SeverityStanding {
  readonly status: IncidentStatus;
  readonly severity: string;
  /** The incident that pages for this one; null when it pages itself. */
  readonly parentId: string | null;
  /** Time until which its pages wait for the end of a maintenance; null if they do not wait. */
  readonly suppressedUntil: Temporal.Instant | null;
}

type SeverityDecision =
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
  return { kind: 'change', direction: 'raised', mayPage: status === 'triggered' && parentId === null && !isSuppressed };
}
