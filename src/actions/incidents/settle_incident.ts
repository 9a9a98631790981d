import type { Static } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { type IncidentView, toIncidentView } from '#actions/incidents/view.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import { type SettledBy, settledBy } from '#core/incidents/incident.ts';
import { notFound } from '#kernel/errors.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

/** Locks the incident of the caller's organization, settles it, and notes the difference. */
export async function settleIncident(
  incidentId: string,
  context: ActionContext,
  settle: (unit: UnitOfWork, incident: IncidentRow, by: SettledBy) => Promise<boolean>,
): Promise<Static<typeof IncidentView>> {
  const { stores, caller, now } = context;
  // Looked for before it is locked: a lock that somebody else's incident is under must not be felt.
  const { id } = await stores.incidents.get(caller.orgId, incidentId, now);
  const incident = await stores.incidents.lock(id);
  if (incident === null) throw notFound('incidentId', 'incident');
  await settle(context, incident, settledBy(caller.actor, caller.via));
  const after = await stores.incidents.get(caller.orgId, incidentId, now);
  context.record({ target: incident.id, before: { status: incident.status }, after: { status: after.status } });
  return toIncidentView(after, await stores.incidents.listSteps([incident.id]));
}
