import { hasNoChannelLeft } from '#modules/policies/decide/recipients.ts';
import { skipUnreachablePerson } from '#modules/incidents/paging/schedule_steps.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import type { Temporal } from '#kernel/time.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import type { Id } from '#kernel/ids.ts';
import type { Stores, UnitOfWork } from '#modules/stores.ts';

/** The incidents that an answer to the notification is about. Of a digest, those that nobody has answered yet. */
export async function listIncidentsOf(stores: Stores, notification: NotificationRow): Promise<IncidentRow[]> {
  const { orgId, incidentId } = notification;
  if (notification.kind !== 'digest') {
    const incident = incidentId && (await stores.incidents.find(orgId, incidentId));
    return incident ? [incident] : [];
  }
  const pages = (await stores.digests.listMembers(notification.id)).filter(({ kind }) => kind === 'page');
  const ids = pages.flatMap((page): Id<'incident'>[] => (page.incidentId === null ? [] : [page.incidentId]));
  const incidents = await stores.incidents.findAll(orgId, ids);
  return [...incidents.values()].filter(({ status }) => status === 'triggered');
}

/** Locks every incident that the notification is about until the transaction ends: many for a digest, none for a test. */
async function lockIncidentsOf(stores: Stores, notification: NotificationRow): Promise<Map<string, IncidentRow>> {
  const entries = notification.kind === 'digest' ? await stores.digests.listMembers(notification.id) : [notification];
  return await stores.incidents.lockAll(entries.flatMap(({ incidentId }) => incidentId ?? []));
}

/** Progress of a message: from the response to the request that sent it, or from a later report of the provider. */
export type Outcome =
  | {
      readonly status: 'sent' | 'delivered' | 'failed';
      readonly reason: string | null;
      /** The provider's own id of the message, if it is known. */
      readonly providerId: string | null;
    }
  /** Result of an attempt that did not send it: the next one is due then. */
  | { readonly status: 'retry'; readonly reason: string; readonly dueAt: Temporal.Instant };

/**
 * Writes the outcome of a message to the notification log and to the timelines of its incidents; for a digest, that of
 * every message in it. An outcome only moves a message forward: one that is late, doubled or out of order changes
 * nothing. A person whose last channel has failed is skipped at once.
 *
 * @param onlyIfHeld whether the outcome counts only while the message is in the attempt of `notification`, and no other
 *   process has taken it over
 */
export async function recordOutcome(
  unit: UnitOfWork,
  notification: NotificationRow,
  outcome: Outcome,
  { onlyIfHeld = false } = {},
): Promise<void> {
  const { stores, now } = unit;
  const incidents = await lockIncidentsOf(stores, notification);
  if (onlyIfHeld && !(await stores.deliveries.lockHeld(notification))) return;
  if (outcome.status === 'retry') {
    await recordRetry(unit, notification, outcome);
    return;
  }
  const { status, providerId } = outcome;
  if (providerId !== null) await stores.deliveries.setProviderId(notification.id, providerId);
  const reason = status === 'failed' ? (outcome.reason ?? 'not_delivered') : outcome.reason;
  const moved = await stores.deliveries.advance(notification.id, status, reason, now);
  await noteOptOut(unit, notification, status, reason);
  switch (status) {
    case 'sent':
      await recordPageEvents(unit, moved, 'page_sent', { unconfirmed: reason !== null });
      return;
    case 'delivered':
      await recordPageEvents(unit, moved, 'page_delivered');
      return;
    case 'failed':
      await recordFailures(unit, incidents, moved);
  }
}

/** An SMS that arrived shows that its receiver takes SMS again; one that was refused after STOP, that they do not. */
async function noteOptOut(
  { stores, now }: UnitOfWork,
  { channel, address, releasedAt, createdAt }: NotificationRow,
  status: 'sent' | 'delivered' | 'failed',
  reason: string | null,
): Promise<void> {
  if (channel !== 'sms' || address === null) return;
  if (status === 'delivered') await stores.phoneNumbers.resumeSms(address, releasedAt ?? createdAt);
  if (status === 'failed' && reason === 'unsubscribed') await stores.phoneNumbers.stopSms(address, now);
}

async function recordRetry(
  unit: UnitOfWork,
  notification: NotificationRow,
  { reason, dueAt }: Extract<Outcome, { status: 'retry' }>,
): Promise<void> {
  const { stores, now, enqueue } = unit;
  await stores.deliveries.markForRetry(notification.id, reason, dueAt, now);
  // Only the first delay is in the timeline; the final outcome follows.
  if (notification.attempts === 1) {
    await recordPageEvents(unit, await listWaiting(unit, notification), 'page_delayed', { reason });
  }
  enqueue(deliverPage, { notificationId: notification.id }, dueAt);
}

/** Returns what waits for the next attempt: the message, or the messages of a digest. */
async function listWaiting({ stores }: UnitOfWork, notification: NotificationRow): Promise<readonly NotificationRow[]> {
  if (notification.kind !== 'digest') return [notification];
  return (await stores.digests.listMembers(notification.id)).filter(({ status }) => status === 'queued');
}

/** Writes to the timelines how far pages have come. Other messages are not in a timeline. */
async function recordPageEvents(
  { stores, now }: UnitOfWork,
  moved: readonly NotificationRow[],
  event: 'page_sent' | 'page_delivered' | 'page_delayed',
  details: object = {},
): Promise<void> {
  await stores.timeline.recordAll(
    moved.flatMap(({ kind, incidentId, userId, channel, stepIndex, digestId }) => {
      if (kind !== 'page' || incidentId === null) return [];
      const data = { userId, channel, stepIndex, ...(digestId !== null && { digest: true }), ...details };
      return [{ incidentId, event, data }];
    }),
    now,
  );
}

/** Writes failed pages to the timelines, and skips everybody who has no channel left in the step and has not answered. */
async function recordFailures(
  unit: UnitOfWork,
  incidents: ReadonlyMap<string, IncidentRow>,
  failed: readonly NotificationRow[],
): Promise<void> {
  const { stores, now } = unit;
  const pages = failed.flatMap((page) => {
    const incident = page.kind === 'page' ? incidents.get(page.incidentId ?? '') : undefined;
    return incident === undefined || page.stepIndex === null ? [] : [{ page, incident, stepIndex: page.stepIndex }];
  });
  await stores.timeline.recordAll(
    pages.map(({ page: { userId, channel, reason }, incident, stepIndex }) => {
      return { incidentId: incident.id, event: 'page_failed', data: { userId, channel, stepIndex, reason } };
    }),
    now,
  );
  const statuses = Map.groupBy(await stores.notifications.listStatuses(pages.map(({ page }) => page)), personInStep);
  for (const { page, incident, stepIndex } of pages) {
    const pageStatuses = statuses.get(personInStep({ ...page, stepIndex })) ?? [];
    const hasAnswered =
      incident.status !== 'triggered' ||
      incident.acknowledgements?.some(({ userId }) => userId === page.userId) === true;
    if (hasAnswered || !hasNoChannelLeft(pageStatuses.map(({ status }) => status))) continue;
    await skipUnreachablePerson(unit, incident, stepIndex, page.userId);
  }
}

function personInStep(page: { incidentId: string | null; stepIndex: number; userId: string }): string {
  return `${page.incidentId} ${page.stepIndex} ${page.userId}`;
}
