import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import type { RuleSettings } from '#modules/rules/decide/rule_settings.ts';
import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** Returns when an acknowledged incident pages again if it is still open; null for never. */
export function staleAt(
  acknowledgedAt: Instant,
  { repageMinutes }: Pick<RuleSettings, 'repageMinutes'>,
): Instant | null {
  return repageMinutes === null ? null : acknowledgedAt.add({ minutes: repageMinutes });
}

/** Whether the acknowledgement of an incident has gone stale by now. */
export function isStale(
  { status, acknowledgedAt }: { readonly status: IncidentStatus; readonly acknowledgedAt: Instant | null },
  settings: Pick<RuleSettings, 'repageMinutes'>,
  now: Instant,
): boolean {
  if (status !== 'acknowledged' || acknowledgedAt === null) return false;
  const at = staleAt(acknowledgedAt, settings);
  return at !== null && isAtOrBefore(at, now);
}
