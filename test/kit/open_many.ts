import { openIncident } from '#modules/incidents/open_incidents.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import type { Alert, StaffedWorld } from '#test/kit/staffed_world.ts';

/** Opens this many incidents at once, of copies of the alert's rule, oldest first; their titles are "trouble 1", "trouble 2", … */
export async function openMany(w: StaffedWorld, alert: Alert, count: number): Promise<Id<'incident'>[]> {
  const ruleIds = Array.from({ length: count }, () => newId('rule'));
  await w.context.db.sql.run(
    `insert into alert_rules (id, org_id, service_id, name, kind, config, escalation_policy_id, enabled, created_at, updated_at)
     select id, org_id, service_id, name, kind, config, escalation_policy_id, enabled, created_at, updated_at
     from (select org_id, service_id, name, kind, config, escalation_policy_id, enabled, created_at, updated_at
           from alert_rules where id = $1) rule, unnest($2::text[]) id`,
    [alert.ruleId, ruleIds],
  );
  const rules = await storesOf(w.context.db.session()).activeRules.list('metric_threshold');
  return await inUnitOfWork(w.runtime, async (unit) => {
    const incidentIds: Id<'incident'>[] = [];
    for (const [index, ruleId] of ruleIds.entries()) {
      const rule = rules.find((candidate) => candidate.ruleId === ruleId);
      if (rule === undefined) throw new Error('the rule is not active');
      const title = `trouble ${index + 1}`;
      const cause = { kind: 'metric_threshold', exceptionGroupId: null, title, severity: 'error' } as const;
      const id = await openIncident(unit, rule, { ...cause, details: {}, sentence: title });
      if (id !== null) incidentIds.push(id);
    }
    return incidentIds;
  });
}
