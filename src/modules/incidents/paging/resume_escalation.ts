import type { AnsweredStatus, IncidentActor } from '#modules/incidents/decide/incident.ts';
import { resumeTimers } from '#modules/policies/decide/escalation.ts';
import { notifyOthers } from '#modules/incidents/paging/notify_others.ts';
import { startTimers } from '#modules/incidents/paging/start_timers.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import type { Temporal } from '#kernel/time.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** Sets the timers and sends the pages that an answer has cancelled; returns the number of pages. */
export async function resumeEscalation(
  unit: UnitOfWork,
  { id }: IncidentRow,
  stoppedAt: Temporal.Instant,
): Promise<number> {
  const { stores, now, enqueue } = unit;
  // Steps that a reassignment has cancelled stay cancelled.
  const stopped = (await stores.stepTimers.listSteps([id])).filter(
    ({ state, reason }) => state === 'cancelled' && (reason === 'acknowledged' || reason === 'resolved'),
  );
  const timers = resumeTimers(stopped, stoppedAt, now);
  await stores.stepTimers.resumeSteps(id, timers);
  startTimers(unit, id, timers);
  const pages = await stores.notifications.requeueCancelled(id, now);
  for (const notificationId of pages) enqueue(deliverPage, { notificationId });
  return pages.length;
}

/** Cancels news of an answer that have not left. Everyone who has got them hears that the incident is open again. */
export async function withdrawNews(
  unit: UnitOfWork,
  incident: IncidentRow,
  news: AnsweredStatus,
  by: IncidentActor,
): Promise<string[]> {
  const recipients = await unit.stores.notifications.cancelNews(incident.id, news, unit.now);
  return await notifyOthers(unit, incident, recipients, 'reopened', by);
}
