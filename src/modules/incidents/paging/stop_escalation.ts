import type { Id } from '#kernel/ids.ts';
import type { AnsweredStatus, IncidentActor, NewsEvent } from '#modules/incidents/decide/incident.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import { deliverPage } from '#storage/queue/jobs.ts';

/** Time for which the console offers to undo an answer; see `UNDO_MS` there. */
const UNDO_SECONDS = 10;

/** Further facts for the timeline. */
export interface TimelineDetails {
  /** The status that the exception group of the incident was given. */
  readonly groupStatus?: string;
  /** Minutes for which the metric of the incident has sent nothing. */
  readonly noDataMinutes?: number;
  /** Minutes for which the condition has been false, if the rule asks for more or less than a whole window. */
  readonly clearMinutes?: number;
  /** Series that stopped sending, if others still send, and their number. */
  readonly silent?: readonly string[];
  readonly silentCount?: number;
}

/**
 * Stops the escalation when an incident is acknowledged or resolved: no further step fires, pages that have not left
 * are cancelled, and everyone who got an SMS about it is told.
 */
export async function stopEscalation(
  unit: UnitOfWork,
  incident: IncidentRow,
  status: AnsweredStatus,
  by: IncidentActor,
  details: TimelineDetails = {},
): Promise<void> {
  const { stores, now } = unit;
  await stores.stepTimers.cancelSteps(incident.id, status, now);
  const cancelled = await stores.notifications.cancelQueued(incident.id, status, now);
  const recipients = await stores.notifications.listSmsRecipients(incident.id);
  const notified = await notifyOthers(unit, incident, recipients, status, by);
  await stores.timeline.record(
    incident.id,
    status,
    { by, ...details, cancelledMessages: cancelled.length, told: notified },
    now,
  );
  // A change by a person is audited as the action that they called.
  if ('system' in by) {
    await recordSystemChange(unit, {
      orgId: incident.orgId,
      action: status === 'resolved' ? 'resolve_incident' : 'acknowledge_incident',
      via: by.via === 'alert' ? 'alert' : 'rule',
      target: incident.id,
      before: { status: incident.status },
      after: { status, ...(by.tool !== undefined && { by: by.tool }) },
    });
  }
}

/**
 * Sends these people an SMS with news about an incident, except the person who made the change; returns their ids. News
 * of an answer from the console wait until it can no longer be undone there.
 */
export async function notifyOthers(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  people: readonly { readonly userId: Id<'user'>; readonly address: string }[],
  news: NewsEvent,
  by: IncidentActor,
): Promise<Id<'user'>[]> {
  const ownUserId = 'userId' in by ? by.userId : null;
  const others = people.filter(({ userId }) => userId !== ownUserId);
  const dueAt = by.via === 'console' && news !== 'reopened' ? now.add({ seconds: UNDO_SECONDS }) : now;
  const ids = await stores.notifications.insert(
    others.map(({ userId, address }) => ({
      orgId: incident.orgId,
      incidentId: incident.id,
      stepIndex: null,
      kind: 'update' as const,
      userId,
      channel: 'sms' as const,
      address,
      news,
      status: 'queued' as const,
      reason: null,
    })),
    now,
    dueAt,
  );
  for (const notificationId of ids) enqueue(deliverPage, { notificationId }, dueAt);
  return [...new Set(others.map(({ userId }) => userId))];
}
