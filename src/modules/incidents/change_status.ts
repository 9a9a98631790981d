import type { Static } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { notFound } from '#kernel/errors.ts';
import { decideResolve, type IncidentActor, toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { stopEscalation, type TimelineDetails } from '#modules/incidents/paging/stop_escalation.ts';
import { releaseChildren } from '#modules/incidents/paging/suppression.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { MembersOf } from '#modules/incidents/store/storm_store.ts';
import { type IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Locks an incident of the caller's organization until the transaction ends. Throws `not_found`. */
export async function lockIncident(incidentId: string, { stores, caller, now }: ActionContext): Promise<IncidentRow> {
  // Read before it is locked: a caller of another organization must not wait for the lock.
  const { id } = await stores.incidents.get(caller.orgId, incidentId, now);
  const incident = await stores.incidents.lock(id);
  if (incident === null) throw notFound('incidentId', 'incident');
  return incident;
}

/** Returns the answers to an incident for the audit log: its status, and who has acknowledged while others still must. */
export function toAudited({ status, acknowledgements }: Pick<IncidentRow, 'status' | 'acknowledgements'>): object {
  return { status, ...(acknowledgements !== null && { acknowledgements }) };
}

/** Locks an incident of the caller's organization, changes its status, and records the change for the audit log. */
export async function changeStatus(
  incidentId: string,
  context: ActionContext,
  change: (unit: UnitOfWork, incident: IncidentRow, by: IncidentActor) => Promise<boolean>,
): Promise<Static<typeof IncidentView>> {
  const { stores, caller, now } = context;
  const incident = await lockIncident(incidentId, context);
  await change(context, incident, toIncidentActor(caller.actor, caller.via));
  const after = await stores.incidents.get(caller.orgId, incidentId, now);
  context.record({ target: incident.id, before: toAudited(incident), after: toAudited(after) });
  return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
}

/** Resolves an incident that the caller has locked, and every member of a storm. Returns false when it was resolved already. */
export async function resolve(
  unit: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
  details: TimelineDetails = {},
): Promise<boolean> {
  if (decideResolve(incident.status) === 'unchanged') return false;
  await unit.stores.incidents.resolve(incident.id, by, unit.now);
  await unit.stores.storms.endMembers(incident.id, {}, unit.now);
  await stopEscalation(unit, incident, 'resolved', by, details);
  await releaseChildren(unit, incident);
  return true;
}

/**
 * Ends those members of a storm; the caller has locked the storm. When its last
 * member has ended, the storm is resolved: then returns true.
 */
export async function endStormMembers(
  unit: UnitOfWork,
  storm: IncidentRow,
  of: MembersOf,
  by: IncidentActor = { system: true, via: 'rule' },
  details: TimelineDetails = {},
): Promise<boolean> {
  await unit.stores.storms.endMembers(storm.id, of, unit.now);
  if (await unit.stores.storms.hasOpenMembers(storm.id)) return false;
  return await resolve(unit, storm, by, details);
}
