import type { Static } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { type IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { type IncidentActor, toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { notFound } from '#kernel/errors.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** Locks an incident of the caller's organization until the transaction ends. Throws `not_found`. */
export async function lockIncident(incidentId: string, { stores, caller, now }: ActionContext): Promise<IncidentRow> {
  // Read before it is locked: a caller of another organization must not wait for the lock.
  const { id } = await stores.incidents.get(caller.orgId, incidentId, now);
  const incident = await stores.incidents.lock(id);
  if (incident === null) throw notFound('incidentId', 'incident');
  return incident;
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
  context.record({ target: incident.id, before: { status: incident.status }, after: { status: after.status } });
  return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
}
