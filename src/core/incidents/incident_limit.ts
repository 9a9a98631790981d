import { LEVELS } from '#core/exceptions/level.ts';
import { RULE_KINDS, type RuleKind } from '#core/incidents/rule_kinds.ts';

/** How many incidents a service may open within some minutes, for each kind of rule. Further ones join a storm. */
export interface IncidentLimit {
  /** Infinity for no limit. */
  readonly incidents: number;
  readonly minutes: number;
}

/** How many more incidents may open, after `recent` causes within the minutes of the limit. */
export function remainingIncidents(recent: number, { incidents }: IncidentLimit): number {
  return Math.max(0, incidents - recent);
}

/** A storm with a single member has the title of that member. */
export function stormTitle(kind: RuleKind, members: number, serviceName: string, onlyTitle: string): string {
  return members === 1 ? onlyTitle : `${members} more ${RULE_KINDS[kind].causes} in ${serviceName}`;
}

const SEVERITIES: readonly string[] = LEVELS;

export function worseSeverity(a: string, b: string): string {
  return SEVERITIES.indexOf(a) >= SEVERITIES.indexOf(b) ? a : b;
}
