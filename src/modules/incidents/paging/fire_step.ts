import type { Channel } from '#modules/contacts/decide/channel.ts';
import { type EscalationStep, stepAt } from '#modules/policies/decide/escalation.ts';
import { peopleOnCall } from '#modules/schedules/decide/on_call.ts';
import { decideRecipients, firstStatusOf, type PageDecision } from '#modules/policies/decide/recipients.ts';
import { expediteNextStep, skipUnreachablePerson } from '#modules/incidents/paging/expedite_step.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { inSpan } from '#kernel/tracing.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NewNotification } from '#modules/notifications/store/notification_store.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

export interface EscalationRuntime extends UnitOfWorkRuntime {
  /** The channels that the operator has set up. */
  readonly configured: ReadonlySet<Channel>;
}

/** The most people or channels that a timeline names of one step. */
const NAMED_MAX = 20;

/**
 * Fires one step if it is due and its incident still triggered. One transaction claims the timer, writes the log
 * entries of everyone it pages, and enqueues the jobs that send them: so it happens once, however many processes try
 * and however often. Returns when the step is due if that is still to come.
 */
export async function fireStep(
  runtime: EscalationRuntime,
  incidentId: Id<'incident'>,
  stepIndex: number,
): Promise<Temporal.Instant | null> {
  return await inUnitOfWork(runtime, async (unit) => {
    const { incidents, stepTimers } = unit.stores;
    const incident = await incidents.lock(incidentId);
    if (incident?.status !== 'triggered') return null;
    if (!(await stepTimers.claimStep(incidentId, stepIndex, unit.now))) {
      return await stepTimers.findPendingDueAt(incidentId, stepIndex);
    }
    const step = stepAt(incident.steps, stepIndex);
    if (step === undefined) throw new Error(`incident ${incidentId} has a timer for a step it does not have`);
    const attributes = { 'tocsin.incident_id': incidentId, 'tocsin.step': stepIndex };
    await inSpan('fire_step', { kind: 'internal', attributes, parent: incident.traceparent }, () =>
      pageRecipients(unit, incident, step, stepIndex, runtime.configured),
    );
    return null;
  });
}

async function pageRecipients(
  unit: UnitOfWork,
  incident: IncidentRow,
  step: EscalationStep,
  stepIndex: number,
  configured: ReadonlySet<Channel>,
): Promise<void> {
  const { stores, now, enqueue } = unit;
  const onCall =
    step.useSchedule && incident.teamId !== null
      ? await stores.onCall.ofTeam(incident.orgId, incident.teamId, now)
      : { schedules: [] };
  const onCallUserIds = peopleOnCall(onCall.schedules.map((schedule) => schedule.onCall));
  const contacts = await readContacts(unit.stores, incident, [...step.targetUserIds, ...onCallUserIds]);
  const { pages, nobodyReached, unreachable } = decideRecipients(step, onCallUserIds, contacts, configured);
  const ids = await stores.notifications.insert(
    pages.map((page) => toNotification(incident, stepIndex, page)),
    now,
  );
  if (nobodyReached !== null) {
    const next = await expediteNextStep(unit, incident, stepIndex);
    const skipped = { stepIndex, reason: nobodyReached, next, unused: unusedChannels(pages) };
    await stores.stepTimers.markSkipped(incident.id, stepIndex, nobodyReached);
    await stores.timeline.record(incident.id, 'step_skipped', skipped, now);
    return;
  }
  const paged = Map.groupBy(
    pages.filter(({ kind }) => kind === 'notify'),
    ({ userId }) => userId,
  );
  const named = [...paged].slice(0, NAMED_MAX).map(([userId, own]) => ({ userId, channels: own.map(channelOf) }));
  const fired = { stepIndex, people: paged.size, pages: named, unused: unusedChannels(pages) };
  await stores.timeline.record(incident.id, 'step_fired', fired, now);
  for (const notificationId of ids) enqueue(deliverPage, { notificationId });
  for (const userId of unreachable) await skipUnreachablePerson(unit, incident, stepIndex, userId);
}

function channelOf({ channel }: PageDecision): Channel {
  return channel;
}

/** The channels that the step names and does not use, with the reason, for the timeline. */
function unusedChannels(pages: readonly PageDecision[]): object[] {
  return pages
    .flatMap((page) => {
      if (page.kind === 'notify') return [];
      const { userId, channel, reason } = page;
      return [{ userId, channel, reason }];
    })
    .slice(0, NAMED_MAX);
}

function toNotification(incident: IncidentRow, stepIndex: number, page: PageDecision): NewNotification {
  const entry = {
    orgId: incident.orgId,
    incidentId: incident.id,
    stepIndex,
    kind: 'page' as const,
    userId: page.userId,
    channel: page.channel,
  };
  return page.kind === 'notify'
    ? { ...entry, address: page.to, status: firstStatusOf(page), reason: null }
    : { ...entry, address: null, status: firstStatusOf(page), reason: page.reason };
}
