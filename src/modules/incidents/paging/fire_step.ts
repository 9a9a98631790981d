import type { Channel } from '#modules/contacts/decide/channel.ts';
import { followedBy } from '#modules/incidents/decide/reassignment.ts';
import { type EscalationStep, planSteps, stepAt, stepCountOf } from '#modules/policies/decide/escalation.ts';
import {
  chooseInTurn,
  decideRecipients,
  firstStatusOf,
  type PageDecision,
} from '#modules/policies/decide/recipients.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import { inSpan } from '#kernel/tracing.ts';
import { fireNextStep, scheduleSteps, skipUnreachablePerson } from '#modules/incidents/paging/schedule_steps.ts';
import { holdStep } from '#modules/incidents/paging/hold.ts';
import { readContacts, teamOfStep } from '#modules/incidents/paging/read_contacts.ts';
import { nextRound } from '#modules/policies/decide/rounds.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NewNotification } from '#modules/notifications/store/notification_store.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { Contact } from '#modules/contacts/decide/contact.ts';
import { audienceOf, inTurn } from '#modules/policies/decide/audience.ts';

/** People whom a step pages, and how each can be reached. */
interface Audience {
  readonly userIds: readonly Id<'user'>[];
  readonly contacts: ReadonlyMap<Id<'user'>, Contact>;
}

/**
 * Reads whom a step of a locked incident pages now, besides the people it names. A round robin takes its turn in the
 * caller's transaction, so that a step which fires counts once.
 */
async function readAudience(
  { stores, now }: UnitOfWork,
  incident: IncidentRow,
  step: EscalationStep,
  configured: ReadonlySet<Channel>,
): Promise<Audience> {
  const { orgId } = incident;
  const teamId = teamOfStep(incident, step);
  const onCall =
    step.useSchedule && teamId !== null ? await stores.onCall.ofTeam(orgId, teamId, now) : { schedules: [] };
  const schedules = onCall.schedules.map(({ schedule, onCall: then }) => ({ id: schedule.id, onCall: then }));
  const paged = step.members === undefined ? [] : await stores.teams.listMembers(orgId, [step.members.teamId]);
  const memberIds = paged.map(({ userId }) => userId);
  const userIds = audienceOf(step, { schedules, memberIds });
  const contacts = await readContacts(stores, incident, [...step.targetUserIds, ...userIds], step);
  if (step.members?.inTurn !== true) return { userIds, contacts };
  const policyId = step.origin?.policyId ?? incident.escalationPolicyId;
  const last = policyId === null ? null : await stores.policies.lockTurn(policyId);
  const userId = chooseInTurn(inTurn(memberIds, last), step, contacts, configured);
  if (userId !== null && policyId !== null) {
    await stores.policies.setTurn(policyId, { userId, position: memberIds.indexOf(userId) });
  }
  return { userIds: audienceOf(step, { schedules, memberIds: userId === null ? [] : [userId] }), contacts };
}

export interface EscalationRuntime extends UnitOfWorkRuntime {
  /** The channels that the operator has set up. */
  readonly configured: ReadonlySet<Channel>;
}

/** The most people or channels that a timeline names of one step. */
const NAMED_MAX = 20;

/**
 * Fires one step if it is due and its incident still triggered. One transaction claims the timer, writes the log
 * entries of everyone it pages, and enqueues the jobs that send them: so it happens once, however many processes try
 * and however often. In shadow mode it only says in the timeline whom it would have paged. Returns when the step is due
 * if that is still to come.
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
    const held = await holdStep(unit, incident, stepIndex);
    if (held !== null) return held;
    if (!(await stepTimers.claimStep(incidentId, stepIndex, unit.now))) {
      return await stepTimers.findPendingDueAt(incidentId, stepIndex);
    }
    const step = stepAt(incident.steps, stepIndex);
    if (step === undefined) throw new Error(`incident ${incidentId} has a timer for a step it does not have`);
    const attributes = { 'tocsin.incident_id': incidentId, 'tocsin.step': stepIndex };
    await inSpan('fire_step', { kind: 'internal', attributes, parent: incident.traceparent }, async () => {
      await pageRecipients(unit, incident, step, stepIndex, runtime.configured);
      await beginNextRound(unit, incident, stepIndex);
    });
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
  const { userIds, contacts } = await readAudience(unit, incident, step, configured);
  const acknowledged = new Set(incident.acknowledgements?.map(({ userId }) => userId));
  const { pages, nobodyReached, unreachable } = decideRecipients(step, userIds, contacts, configured, acknowledged);
  const logged = incident.isShadow ? [] : pages.map((page) => toNotification(incident, stepIndex, page));
  const ids = await stores.notifications.insert(logged, now);
  if (nobodyReached !== null) {
    const next = nobodyReached === 'acknowledged' ? null : await fireNextStep(unit, incident, stepIndex);
    const skipped = { stepIndex, reason: nobodyReached, next, unused: unusedChannels(pages) };
    await stores.stepTimers.markSkipped(incident.id, stepIndex, nobodyReached);
    await stores.timeline.record(incident.id, 'step_skipped', skipped, now);
    return;
  }
  const paged = Map.groupBy(
    pages.filter(({ kind }) => kind === 'notify'),
    ({ userId }) => userId,
  );
  const named = [...paged]
    .slice(0, NAMED_MAX)
    .map(([userId, channels]) => ({ userId, channels: channels.map(channelOf) }));
  const fired = { stepIndex, people: paged.size, pages: named, unused: unusedChannels(pages) };
  await stores.timeline.record(incident.id, incident.isShadow ? 'step_in_shadow' : 'step_fired', fired, now);
  for (const notificationId of ids) enqueue(deliverPage, { notificationId });
  for (const userId of unreachable) await skipUnreachablePerson(unit, incident, stepIndex, userId);
}

/** Adds the steps of the next round after the last one has fired, in the same transaction: once, whoever tries again. */
async function beginNextRound(unit: UnitOfWork, incident: IncidentRow, stepIndex: number): Promise<void> {
  const { repeats } = incident;
  if (repeats === null || repeats.done >= repeats.times) return;
  const { stores, now } = unit;
  const round = nextRound(incident, await stores.stepTimers.listSteps([incident.id]), stepIndex, now);
  if (round === null) return;
  const done = repeats.done + 1;
  const first = stepCountOf(incident.steps);
  const timers = planSteps(round, now).map((timer) => ({ ...timer, stepIndex: first + timer.stepIndex }));
  const steps = followedBy(incident.steps, round);
  await stores.incidents.addSteps({ id: incident.id, steps, repeats: { ...repeats, done } }, timers, now);
  const at = toTimestamp(now.add({ minutes: repeats.pauseMinutes }));
  await stores.timeline.record(incident.id, 'repeats', { round: done, times: repeats.times, at }, now);
  scheduleSteps(unit, incident.id, timers);
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
