import { decideAcknowledge, type IncidentActor } from '#modules/incidents/decide/incident.ts';
import { stopEscalation } from '#modules/incidents/paging/stop_escalation.ts';
import { AppError } from '#kernel/errors.ts';
import { acknowledgeForOne } from '#modules/incidents/acknowledge_for_one.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Acknowledges an incident that the caller has locked. Returns false when it was acknowledged already; throws `conflict`
 * when it is resolved. While others still must, it acknowledges for one person only, and the incident stays triggered.
 */
export async function acknowledge(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<boolean> {
  const decision = decideAcknowledge(incident.status);
  if (decision === 'unchanged') return false;
  if (decision === 'conflict') {
    throw new AppError('conflict', 'this incident is resolved already; a new breach will open a new one');
  }
  const forOne = await acknowledgeForOne(unit, incident, by);
  if (forOne !== null) return forOne === 'once';
  await unit.stores.incidents.acknowledge(incident.id, by, unit.now);
  await stopEscalation(unit, incident, 'acknowledged', by);
  return true;
}
