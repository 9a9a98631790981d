import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { type CauseKind, causesText } from '#modules/incidents/decide/incident_kind.ts';

/** Limit on the incidents that a service opens within some minutes, for each kind of rule. Others join a storm. */
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
