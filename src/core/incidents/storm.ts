import { LEVELS } from '#core/exceptions/level.ts';
import { RULE_KINDS, type RuleKind } from '#core/incidents/rule_kinds.ts';

/** How many incidents of their own a service may open, of each kind of rule, within so many minutes. */
export interface IncidentLimit {
  /** Infinity for no limit. */
  readonly incidents: number;
  readonly minutes: number;
}

/** How many of those that come next open incidents of their own, when so many causes came within the limit's minutes. */
export function roomFor(recent: number, { incidents }: IncidentLimit): number {
  return Math.max(0, incidents - recent);
}

/** One that stands for a single cause is called like it. */
export function stormTitle(kind: RuleKind, members: number, serviceName: string, onlyTitle: string): string {
  return members === 1 ? onlyTitle : `${members} more ${RULE_KINDS[kind].causes} in ${serviceName}`;
}

const SEVERITIES: readonly string[] = LEVELS;

export function worseSeverity(a: string, b: string): string {
  return SEVERITIES.indexOf(a) >= SEVERITIES.indexOf(b) ? a : b;
}
