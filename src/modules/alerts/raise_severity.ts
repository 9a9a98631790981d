import { routeOf } from '#modules/alerts/decide/route.ts';
import { decideSeverity } from '#modules/incidents/decide/decide_severity.ts';
import type { AlertQueue } from '#modules/alerts/alert_queue.ts';
import { pageAnew } from '#modules/incidents/paging/schedule_steps.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Gives an incident, which the caller has locked, the severity of an alert that is worse. If nobody has answered it and
 * the route of the alert says so, its first step pages anew and the others follow.
 */
export async function raiseSeverity(
  unit: UnitOfWork,
  incident: IncidentRow,
  { row, source }: Pick<AlertQueue, 'row' | 'source'>,
): Promise<void> {
  const { stores, now } = unit;
  const decision = decideSeverity(incident, row.severity, now);
  if (decision.kind !== 'change' || decision.direction !== 'raised') return;
  await stores.incidentResponse.setSeverity(incident.id, row.severity, now);
  const routes = await stores.alertRoutes.list(incident.serviceId);
  const { protocol, name: sourceName } = source.row;
  const route = routeOf(routes, { severity: row.severity, protocol, sourceName, details: row.details });
  const pages =
    decision.mayPage && route?.pagesOnRise === true && (await pageBy(unit, incident, route.policyId, row.severity));
  const facts = { tool: row.tool, from: incident.severity, to: row.severity, pages };
  await stores.timeline.record(incident.id, 'severity_raised', facts, now);
}

/** Returns false where nobody would be paged. */
async function pageBy(
  unit: UnitOfWork,
  incident: IncidentRow,
  policyId: IncidentRow['escalationPolicyId'],
  severity: string,
): Promise<boolean> {
  const { stores, now } = unit;
  if (policyId === null) return false;
  const policy = (await stores.alertRoutes.findPolicies(incident.orgId, [policyId])).get(policyId);
  if (policy === undefined) return false;
  const findPolicy = await readPolicies(stores, incident.orgId, [policyId]);
  return await pageAnew(
    unit,
    incident,
    runOfPolicy({ ...policy, escalationPolicyId: policyId }, findPolicy, now, severity),
  );
}
