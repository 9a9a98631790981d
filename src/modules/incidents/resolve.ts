import { decideResolve, type IncidentActor } from '#modules/incidents/decide/incident.ts';
import { releaseChildren } from '#modules/incidents/paging/suppression.ts';
import { stopEscalation, type TimelineDetails } from '#modules/incidents/paging/stop_escalation.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { MembersOf } from '#modules/incidents/store/storm_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

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
