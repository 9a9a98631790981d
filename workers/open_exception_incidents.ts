import { recordSystemChange } from '#actions/system_change.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { isAtLeast } from '#core/exceptions/triage.ts';
import type { ExceptionRule } from '#core/incidents/exception_rule.ts';
import type { IncidentLimit } from '#core/incidents/storm.ts';
import type { NewOrRegressed } from '#workers/group_exceptions.ts';
import type { Cause } from '#workers/open_incident.ts';
import { type Firing, openIncidents } from '#workers/open_incidents.ts';

/** Opens the incidents of every rule that a new or regressed group concerns, in the transaction that found it. */
export async function openExceptionIncidents(
  unit: UnitOfWork,
  groups: readonly NewOrRegressed[],
  limit: IncidentLimit,
): Promise<void> {
  const serviceIds = [...new Set(groups.map(({ serviceId }) => serviceId))];
  const rules = await unit.stores.activeRules.listExceptionRules(serviceIds);
  const firings: Firing[] = [];
  for (const group of groups) {
    if (group.outcome === 'regression') await recordReopening(unit, group);
    for (const rule of rules.filter(({ serviceId }) => serviceId === group.serviceId)) {
      const { minSeverity } = rule.config as ExceptionRule;
      if (isAtLeast(group.level, minSeverity)) firings.push({ rule, cause: causeOf(group) });
    }
  }
  await openIncidents(unit, firings, limit);
}

async function recordReopening(unit: UnitOfWork, { orgId, groupId }: NewOrRegressed): Promise<void> {
  const [before, after] = [{ status: 'resolved' }, { status: 'unresolved' }];
  await recordSystemChange(unit, {
    orgId,
    action: 'set_exception_status',
    via: 'rule',
    target: groupId,
    before,
    after,
  });
}

function causeOf({ groupId, outcome, title, level, eventId, environment, release }: NewOrRegressed): Cause {
  return {
    kind: 'exception',
    exceptionGroupId: groupId,
    title,
    severity: level,
    details: { groupId, outcome, level, eventId, environment, release },
    sentence: outcome === 'new' ? `a new exception, ${title}` : `${title} is back after it was resolved`,
  };
}
