import { RULE_KIND_NAMES, RULE_KINDS, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';

/** Kind of cause that opens incidents without a person: a kind of rule, or an alert of another tool. */
export type CauseKind = RuleKind | 'alert';

export const CAUSE_KINDS: readonly CauseKind[] = [...RULE_KIND_NAMES, 'alert'];

/** Kind of what opened an incident: a kind of cause, or a person. */
export type IncidentKind = CauseKind | 'manual';

export const INCIDENT_KINDS: readonly IncidentKind[] = [...CAUSE_KINDS, 'manual'];

/** Several causes in the title of an incident that stands for them. */
export function causesText(kind: CauseKind): string {
  return kind === 'alert' ? 'alerts' : RULE_KINDS[kind].causes;
}

/** Returns the kind of data from which a cause of this kind arises. */
export function ingestedFor(kind: CauseKind): 'points' | 'events' | 'alerts' {
  return kind === 'alert' ? 'alerts' : RULE_KINDS[kind].ingests;
}
