import { decideUnacknowledge, type IncidentActor } from '#modules/incidents/decide/incident.ts';
import { pageWithoutLead } from '#modules/incidents/paging/paging_start.ts';
import { resumeEscalation, withdrawNews } from '#modules/incidents/paging/resume_escalation.ts';
import { AppError } from '#kernel/errors.ts';
import { unacknowledgeForOne } from '#modules/incidents/acknowledge_for_one.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/**
 * Undoes that an incident, which the caller has locked, was acknowledged: its escalation resumes. Returns false when
 * nobody has acknowledged it; throws `conflict` when it is resolved.
 */
export async function unacknowledge(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<boolean> {
  const decision = decideUnacknowledge(incident.status);
  if (decision === 'unchanged') return await unacknowledgeForOne(unit, incident, by);
  if (decision === 'conflict') {
    throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
  }
  await unit.stores.incidents.reopen(incident.id, 'triggered', unit.now);
  const resumedMessages = await resumeEscalation(unit, incident, incident.acknowledgedAt ?? unit.now);
  await pageWithoutLead(unit, incident.id);
  const notified = await withdrawNews(unit, incident, 'acknowledged', by);
  await unit.stores.timeline.record(incident.id, 'unacknowledged', { by, resumedMessages, told: notified }, unit.now);
  return true;
}
