import { routeOf } from '#modules/alerts/decide/route.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';
import { followedBy, planReassignment } from '#modules/incidents/decide/reassignment.ts';
import type { AlertQueue } from '#modules/alerts/alert_queue.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import { startTimers } from '#modules/incidents/paging/start_timers.ts';
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
  const isWorse = incident.severity !== row.severity && worseSeverity(incident.severity, row.severity) === row.severity;
  if (incident.status === 'resolved' || !isWorse) return;
  await stores.alerts.setIncidentSeverity(incident.id, row.severity, now);
  const routes = await stores.alertRoutes.list(incident.serviceId);
  const { protocol, name: sourceName } = source.row;
  const route = routeOf(routes, { severity: row.severity, protocol, sourceName, details: row.details });
  const pages = route?.pagesOnRise === true && (await pageAnew(unit, incident, route.policyId, row.severity));
  const facts = { tool: row.tool, from: incident.severity, to: row.severity, pages };
  await stores.timeline.record(incident.id, 'severity_raised', facts, now);
}

/** Returns false where nobody would be paged, or somebody has answered. */
async function pageAnew(
  unit: UnitOfWork,
  incident: IncidentRow,
  policyId: IncidentRow['escalationPolicyId'],
  severity: string,
) {
  const { stores, now } = unit;
  if (incident.status !== 'triggered' || policyId === null || incident.leadId !== null) return false;
  if (incident.quietUntil !== null && incident.quietUntil.epochMilliseconds > now.epochMilliseconds) return false;
  const policy = (await stores.alertRoutes.findPolicies(incident.orgId, [policyId])).get(policyId);
  if (policy === undefined) return false;
  const findPolicy = await readPolicies(stores, incident.orgId, [policyId]);
  const run = runOfPolicy({ ...policy, escalationPolicyId: policyId }, findPolicy, now, severity);
  if (run.steps.length === 0) return false;
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const plan = planReassignment({ ...incident, timers }, { kind: 'policy', steps: run.steps }, now);
  await stores.stepTimers.supersedeSteps(incident.id, now);
  await stores.notifications.supersedeCancelled(incident.id, now);
  const steps = followedBy(incident.steps, plan.steps);
  const { escalationPolicyId, teamId } = run;
  const raised = { id: incident.id, steps, escalationPolicyId, teamId, repeats: repeatsOf(run) };
  await stores.incidents.reassign(raised, plan.timers, now);
  startTimers(unit, incident.id, plan.timers);
  return true;
}
