import type { Level } from '#modules/exceptions/decide/level.ts';
import { isAtLeast } from '#modules/exceptions/decide/triage.ts';
import type { ExceptionRule } from '#modules/rules/decide/rule_kinds.ts';
import { meetsConditions } from '#modules/rules/decide/replay_exceptions.ts';
import { isOnRate } from '#modules/rules/decide/kind_settings.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import type { Cause, Firing } from '#modules/incidents/paging/firing.ts';
import { divideRules, setAsideRule } from '#modules/rules/set_aside_rule.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import type { Id } from '#kernel/ids.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** An exception group that people should hear about: never seen before, or back after it was resolved. */
export interface NewOrRegressed {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly groupId: Id<'group'>;
  readonly outcome: 'new' | 'regression';
  /** Worst level of the event that began it or brought it back, and of those that came with it after it. */
  readonly level: Level;
  /** Title of the event that began it or brought it back; the fields below are also from that event. */
  readonly title: string;
  readonly eventId: string;
  readonly environment: string | null;
  readonly release: string | null;
  readonly tags: Readonly<Record<string, string>>;
  /** The span in which that event was handled; null when nothing is traced. */
  readonly traceparent?: string | null;
}

/** Opens the incidents of every rule that a new or regressed group concerns, in the transaction that found the group. */
export async function openExceptionIncidents(
  unit: UnitOfWork,
  groups: readonly NewOrRegressed[],
  limit: IncidentLimit,
): Promise<void> {
  const serviceIds = [...new Set(groups.map(({ serviceId }) => serviceId))];
  const { readable: rules, unreadable } = divideRules(
    'exception',
    await unit.stores.activeRules.list('exception', { serviceIds }),
  );
  for (const { ruleId } of unreadable) await setAsideRule(unit, { ruleId, kind: 'exception' }, limit);
  const firings: Firing[] = [];
  for (const group of groups) {
    if (group.outcome === 'regression') await recordRegression(unit, group);
    for (const rule of rules.filter(({ serviceId }) => serviceId === group.serviceId)) {
      const { minSeverity } = rule.config as ExceptionRule;
      const settings = settingsOf(rule.settings);
      // A rule on rates looks by itself, from time to time.
      if (isOnRate(settings) || !meetsConditions(settings, group)) continue;
      if (isAtLeast(group.level, minSeverity)) firings.push({ rule, cause: causeOf(group, settings.incidentSeverity) });
    }
  }
  await openIncidents(unit, firings, limit);
}

async function recordRegression(unit: UnitOfWork, { orgId, groupId, release }: NewOrRegressed): Promise<void> {
  await recordSystemChange(unit, {
    orgId,
    action: 'set_exception_status',
    via: 'rule',
    target: groupId,
    before: { status: 'resolved' },
    after: { status: 'unresolved', ...(release !== null && { release }) },
  });
}

function causeOf(
  { groupId, outcome, title, level, eventId, environment, release, ...event }: NewOrRegressed,
  severity: Level | null,
): Cause {
  const inRelease = release === null ? '' : ` in release ${release}`;
  return {
    traceparent: event.traceparent ?? null,
    kind: 'exception',
    exceptionGroupId: groupId,
    title,
    severity: severity ?? level,
    details: { groupId, outcome, level, eventId, environment, release },
    sentence: outcome === 'new' ? `a new exception, ${title}` : `${title} is back${inRelease} after it was resolved`,
  };
}
