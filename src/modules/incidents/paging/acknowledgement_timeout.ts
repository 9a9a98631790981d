import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { isStale } from '#modules/incidents/decide/escalation_state.ts';
import { planReassignment, replacedBy } from '#modules/incidents/decide/reassignment.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import { decideRun, hasBegunToPage, isWaitingForMaintenance } from '#modules/incidents/paging/suppression.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';
import type { AnsweredStatus, IncidentActor } from '#modules/incidents/decide/incident.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import { resumeTimers } from '#modules/policies/decide/escalation.ts';
import { notifyOthers } from '#modules/incidents/paging/stop_escalation.ts';
import { deliverPage } from '#storage/queue/jobs.ts';
import type { Temporal } from '#kernel/time.ts';

/**
 * Sets the timers and sends the pages that an answer has cancelled, but for those of people who have acknowledged for
 * themselves; returns the number of pages.
 */
export async function resumeEscalation(
  unit: UnitOfWork,
  { id, acknowledgements }: Pick<IncidentRow, 'id' | 'acknowledgements'>,
  stoppedAt: Temporal.Instant,
): Promise<number> {
  const { stores, now, enqueue } = unit;
  // Steps that a reassignment has cancelled stay cancelled.
  const stopped = (await stores.stepTimers.listSteps([id])).filter(
    ({ state, reason }) => state === 'cancelled' && (reason === 'acknowledged' || reason === 'resolved'),
  );
  const timers = resumeTimers(stopped, stoppedAt, now);
  await stores.stepTimers.resumeSteps(id, timers);
  scheduleSteps(unit, id, timers);
  const except = acknowledgements?.map(({ userId }) => userId) ?? [];
  const pages = await stores.notifications.requeueCancelled(id, now, { except });
  for (const notificationId of pages) enqueue(deliverPage, { notificationId });
  return pages.length;
}

/** Cancels news of an answer that have not left. Everyone who has got them hears that the incident is open again. */
export async function withdrawStatusUpdates(
  unit: UnitOfWork,
  incident: IncidentRow,
  news: AnsweredStatus,
  by: IncidentActor,
): Promise<string[]> {
  const recipients = await unit.stores.notifications.cancelNews(incident.id, news, unit.now);
  return await notifyOthers(unit, incident, recipients, 'reopened', by);
}

const BATCH = 500;

/**
 * Pages again about incidents that somebody acknowledged so long ago that their rule, or the source of their alerts,
 * asks for it, however often that was before. One that cannot page now delays none of the others, and is tried again.
 */
export async function expireAcknowledgements(runtime: UnitOfWorkRuntime & { readonly log: Log }): Promise<void> {
  const { suppression } = storesOf(runtime.db.session());
  for (const incidentId of await suppression.listStale(runtime.clock.now(), BATCH)) {
    try {
      await inUnitOfWork(runtime, (unit) => repage(unit, incidentId));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      runtime.log.error({ incidentId, err: error }, 'an incident whose acknowledgement went stale did not page again');
    }
  }
}

/** Restarts the steps of an incident now, as if it had just been triggered. */
async function repage(unit: UnitOfWork, incidentId: Id<'incident'>): Promise<void> {
  const { stores, now } = unit;
  const incident = await stores.incidents.lock(incidentId);
  if (incident === null || incident.acknowledgedAt === null) return;
  if (isWaitingForMaintenance(incident, now) && !(await hasBegunToPage(unit, incidentId))) return;
  if (!isStale(incident, { repageMinutes: await findRepageMinutes(unit, incident) }, now)) return;
  const timers = await stores.stepTimers.listSteps([incidentId]);
  const run = await decideRun(unit, { ...incident, timers }, now);
  const last = incident.steps.at(-1)?.countsFrom;
  const latest = run?.steps ?? incident.steps.filter(({ countsFrom }) => countsFrom === last);
  const plan = planReassignment({ ...incident, timers }, { kind: 'policy', steps: latest }, now);
  await stores.stepTimers.supersedeSteps(incidentId, now);
  await stores.notifications.supersedeCancelled(incidentId, now);
  await stores.incidents.reopen(incidentId, 'triggered', now);
  await withdrawStatusUpdates(unit, incident, 'acknowledged', { system: true, via: 'rule' });
  const { escalationPolicyId, teamId } = run ?? incident;
  const repeats = run === null ? incident.repeats && { ...incident.repeats, done: 0 } : repeatsOf(run);
  const steps = replacedBy(incident.steps, plan.steps);
  await stores.incidents.reassign({ id: incidentId, steps, escalationPolicyId, teamId, repeats }, plan.timers, now);
  const minutes = Math.floor((now.epochMilliseconds - incident.acknowledgedAt.epochMilliseconds) / 60_000);
  await stores.timeline.record(incidentId, 'repaged', { minutes }, now);
  scheduleSteps(unit, incidentId, plan.timers);
}

/** Returns the acknowledgement timeout of the rule of an incident, or of the sources of its alerts; null for none. */
async function findRepageMinutes({ stores }: UnitOfWork, { id, orgId, ruleId }: IncidentRow): Promise<number | null> {
  if (ruleId === null) return await stores.suppression.findRepageMinutes(id);
  const rule = (await stores.ruleSearch.findAll(orgId, [ruleId])).get(ruleId);
  return rule === undefined ? null : settingsOf(rule.settings).repageMinutes;
}
