import { type Id, newId } from '#kernel/ids.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { openIncident } from '#modules/incidents/open_incidents.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import type { Alert, StaffedWorld } from '#test/kit/staffed_world.ts';
import type { World } from '#test/kit/world.ts';

interface Many {
  readonly count: number;
  readonly status?: IncidentStatus;
  /** Minutes since the newest was triggered; each further incident is a minute older. */
  readonly minutesAgo?: number;
  readonly title?: string;
  readonly severity?: string;
}

/** Incidents as if they had been opened long ago, in one statement; their ids, newest first. */
export async function givenIncidents(w: World, serviceId: Id<'service'>, many: Many): Promise<Id<'incident'>[]> {
  const { count, status = 'resolved', minutesAgo = 0, title = 'Latency is high', severity = 'error' } = many;
  const ids = Array.from({ length: count }, () => newId('incident'));
  await w.context.db.sql.run(
    `insert into incidents (id, org_id, service_id, kind, dedup_key, title, severity, details, steps, status,
       triggered_at, acknowledged_at, acknowledged_by, resolved_at, resolved_by, counted_at, created_at, updated_at)
     select id, $1, $2, 'metric_threshold', id, $4 || ' ' || n, $5, '{}', '[]', $6, at,
       case $6 when 'acknowledged' then at end, case $6 when 'acknowledged' then $7::json end,
       case $6 when 'resolved' then at end, case $6 when 'resolved' then $7::json end, at, at, at
     from unnest($3::text[]) with ordinality _(id, n),
       lateral (select $8::timestamptz - make_interval(mins => $9::int + n::int - 1)) t(at)`,
    [
      w.orgId,
      serviceId,
      ids,
      title,
      severity,
      status,
      JSON.stringify({ userId: w.owner.userId, via: 'console' }),
      w.clock.now().toString(),
      minutesAgo,
    ],
  );
  return ids;
}

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
