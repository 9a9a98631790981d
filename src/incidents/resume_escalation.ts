import type { AnsweredStatus, IncidentActor } from '#core/incidents/incident.ts';
import { resumeTimers } from '#core/oncall/escalation.ts';
import { notifyOthers } from '#incidents/notify_others.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import { runEscalationStep } from '#jobs/run_escalation_step.ts';
import type { Temporal } from '#kernel/time.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** Sets the timers and sends the pages that an answer has cancelled; returns the number of pages. */
export async function resumeEscalation(
  { stores, now, enqueue }: UnitOfWork,
  { id }: IncidentRow,
  stoppedAt: Temporal.Instant,
): Promise<number> {
  const stopped = (await stores.stepTimers.listSteps([id])).filter(({ state }) => state === 'cancelled');
  const timers = resumeTimers(stopped, stoppedAt, now);
  await stores.stepTimers.resumeSteps(id, timers);
  for (const { stepIndex, dueAt } of timers) enqueue(runEscalationStep, { incidentId: id, stepIndex }, dueAt);
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
