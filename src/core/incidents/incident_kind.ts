import { RULE_KIND_NAMES, type RuleKind } from '#core/incidents/rule_kinds.ts';

/** What opened an incident: a rule of some kind, or a person. */
export type IncidentKind = RuleKind | 'manual';

export const INCIDENT_KINDS: readonly IncidentKind[] = [...RULE_KIND_NAMES, 'manual'];
