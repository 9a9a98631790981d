import { LEVELS } from '#core/exceptions/level.ts';
import { type CauseKind, causesText } from '#core/incidents/incident_kind.ts';

/** How many incidents a service may open within some minutes, for each kind of cause. Further ones join a storm. */
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
export function stormTitle(kind: CauseKind, members: number, serviceName: string, onlyTitle: string): string {
  return members === 1 ? onlyTitle : `${members} more ${causesText(kind)} in ${serviceName}`;
}

const SEVERITIES: readonly string[] = LEVELS;

export function worseSeverity(a: string, b: string): string {
  return SEVERITIES.indexOf(a) >= SEVERITIES.indexOf(b) ? a : b;
}
