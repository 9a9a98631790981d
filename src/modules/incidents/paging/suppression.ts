import { isDeepStrictEqual } from 'node:util';

import { findParent, nextParent } from '#modules/incidents/decide/group.ts';
import { labelsOfIncident } from '#modules/incidents/decide/incident_labels.ts';
import { labelsOf, type MaintenanceSubject } from '#modules/maintenance/decide/maintenance.ts';
import { type Quiet, SuppressionTimes } from '#modules/incidents/decide/maintenance_times.ts';
import type { Cause, Opener } from '#modules/incidents/paging/firing.ts';
import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import { type EscalationStep, planSteps, stepAt } from '#modules/policies/decide/escalation.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';
import { type IncidentRun, readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import type { StepTimerRow } from '#modules/incidents/decide/escalation_state.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { MaintenanceRow } from '#modules/maintenance/store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Parts of a rule and its cause that decide when pages begin. */
interface Fired {
  readonly rule: Opener;
  readonly cause: Pick<Cause, 'kind' | 'severity' | 'dedupKey' | 'labels'>;
}

/** Start of paging for a new incident, and what delays it. */
export type Suppression =
  | { readonly kind: 'at_once' }
  | { readonly kind: 'quiet'; readonly until: Temporal.Instant; readonly maintenance: string }
  | { readonly kind: 'with_parent'; readonly parentId: Id<'incident'>; readonly title: string };

/**
 * Decides when an incident of this firing begins to page, given the organization's maintenance windows. One in shadow mode
 * and one that pages never wait for each other.
 */
export async function decideSuppression(
  unit: UnitOfWork,
  firing: Fired,
  { windows, isShadow }: { readonly windows: readonly MaintenanceRow[]; readonly isShadow: boolean },
): Promise<Suppression> {
  const { rule, cause } = firing;
  const { stores, now } = unit;
  const subject = subjectOf(firing);
  let quiet = new SuppressionTimes(windows).find(subject, now);
  if (quiet !== null) {
    // Whoever ends a maintenance releases the incidents that wait for it: this one must be among them.
    await stores.maintenance.hold(rule.orgId);
    quiet = (await readSuppressionTimes(unit, rule.orgId)).find(subject, now);
  }
  if (quiet !== null) return { kind: 'quiet', until: quiet.until, maintenance: quiet.window.name };
  if (!mayHaveParent(firing)) return { kind: 'at_once' };
  const { groupMinutes } = settingsOf(rule.settings);
  const open = await stores.suppression.lockParents(rule.serviceId, now.subtract({ minutes: groupMinutes }), isShadow);
  const opening = { escalationPolicyId: rule.escalationPolicyId, severity: cause.severity, groupMinutes };
  const parent = findParent(open, opening, now);
  return parent === null ? { kind: 'at_once' } : { kind: 'with_parent', parentId: parent.id, title: parent.title };
}

/** Returns the time from which the steps count; null if they count from the trigger. */
export function startsAt(start: Suppression): Temporal.Instant | null {
  return { at_once: null, quiet: start.kind === 'quiet' ? start.until : null, with_parent: FAR_FUTURE }[start.kind];
}

/** Whether this firing would page at once if it opened an incident of its own. */
export async function isSuppressed(unit: UnitOfWork, firing: Fired): Promise<boolean> {
  return (await readSuppressionTimes(unit, firing.rule.orgId)).find(subjectOf(firing), unit.now) !== null;
}

async function readSuppressionTimes(
  { stores }: UnitOfWork,
  orgId: Id<'org'>,
): Promise<SuppressionTimes<MaintenanceRow>> {
  return new SuppressionTimes(await stores.maintenance.list(orgId));
}

/** Whether another incident may page for that of this firing. */
export function mayHaveParent({ rule, cause }: Fired): boolean {
  // A storm stands for many and pages by itself.
  return settingsOf(rule.settings).groupMinutes > 0 && cause.dedupKey?.startsWith('storm.') !== true;
}

function subjectOf({ rule, cause }: Fired): MaintenanceSubject {
  const { serviceId, ruleId, config } = rule;
  const labels = cause.kind === 'alert' || config === undefined ? {} : labelsOf({ kind: cause.kind, config });
  return { serviceId, ruleId, labels: cause.labels ?? labels };
}

/**
 * Recomputes suppression after a maintenance was added or removed: suppressed incidents page when they now should, also
 * if somebody takes their answer back.
 */
export async function renewSuppression(unit: UnitOfWork, orgId: Id<'org'>): Promise<void> {
  const { stores, now } = unit;
  const suppressionTimes = await readSuppressionTimes(unit, orgId);
  for (const incidentId of await stores.suppression.listSuppressed(orgId, now, SUPPRESSED_MAX)) {
    const incident = await stores.incidents.lock(incidentId);
    if (incident === null || incident.status === 'resolved' || incident.suppressedUntil === null) continue;
    const quiet = await findQuiet(unit, incident, suppressionTimes);
    if (quiet?.until.epochMilliseconds === incident.suppressedUntil.epochMilliseconds) continue;
    await followMaintenance(unit, incident, quiet);
  }
}

const SUPPRESSED_MAX = 10_000;

async function findQuiet(
  { stores, now }: UnitOfWork,
  incident: IncidentRow,
  suppressionTimes: SuppressionTimes<MaintenanceRow>,
): Promise<Quiet<MaintenanceRow> | null> {
  const { orgId, serviceId, ruleId } = incident;
  const rule = ruleId === null ? undefined : (await stores.ruleSearch.findAll(orgId, [ruleId])).get(ruleId);
  return suppressionTimes.find({ serviceId, ruleId, labels: labelsOfIncident(incident, rule) }, now);
}

/** Lets a locked incident that waits for a maintenance page when it ends now, or at once; the timeline says so. */
export async function followMaintenance(
  unit: UnitOfWork,
  incident: IncidentRow,
  quiet: Quiet<MaintenanceRow> | null,
): Promise<void> {
  const { stores, now } = unit;
  await movePaging(unit, incident, quiet?.until ?? null);
  // The timeline of an answered incident says so once nobody has answered it.
  if (incident.status !== 'triggered') return;
  if (quiet === null) await stores.timeline.record(incident.id, 'maintenance_ended', {}, now);
  else {
    const waits = { maintenance: quiet.window.name, until: toTimestamp(quiet.until) };
    await stores.timeline.record(incident.id, 'quiet', waits, now);
  }
}

/** Returns the steps of a run that begins to page then, with the policy that decides again if it begins at another time. */
export function waitingSteps(run: IncidentRun, from: Temporal.Instant): EscalationStep[] {
  const { steps, insteadOf } = run;
  return steps.map((step) => ({
    ...step,
    countsFrom: toTimestamp(from),
    ...(insteadOf && { insteadOf: insteadOf.policyId }),
  }));
}

/**
 * Lets a locked incident, whose pages wait, begin to page then, or now; one that is answered, as if it were not. Steps
 * that a person has asked for stay. Which policy runs is decided anew, unless a step has fired.
 */
async function movePaging(unit: UnitOfWork, incident: IncidentRow, until: Temporal.Instant | null): Promise<void> {
  const { stores, now } = unit;
  const from = until ?? now;
  const isAnswered = incident.status !== 'triggered';
  // One that is answered has not begun to page: the time says since when it would have.
  const suppressedUntil = isAnswered ? from : until;
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const run = await decideRun(unit, { ...incident, timers }, from);
  if (run !== null) {
    const steps = waitingSteps(run, from);
    const planned = planSteps(steps, now);
    await stores.suppression.setPaging(incident.id, { steps, suppressedUntil, parentId: null }, now);
    await stores.stepTimers.removeSteps(incident.id);
    const { escalationPolicyId, teamId } = run;
    const changed = { id: incident.id, steps, escalationPolicyId, teamId, repeats: repeatsOf(run) };
    await stores.incidents.reassign(changed, planned, now);
    await stores.timeline.record(incident.id, 'run_changed', { runs: run.name }, now);
    if (isAnswered) await stores.stepTimers.cancelSteps(incident.id, incident.status, now);
    else scheduleSteps(unit, incident.id, planned);
    return;
  }
  const countsFrom = toTimestamp(from);
  const steps = incident.steps.map((step) => (isWaiting(step, incident) ? { ...step, countsFrom } : step));
  await stores.suppression.setPaging(incident.id, { steps, suppressedUntil, parentId: null }, now);
  const planned = planSteps(steps, now).filter(({ stepIndex }) => {
    const step = stepAt(incident.steps, stepIndex);
    return step !== undefined && isWaiting(step, incident);
  });
  for (const { stepIndex, dueAt } of planned) {
    const timer = timers.find((timer) => timer.stepIndex === stepIndex);
    if (timer !== undefined) await stores.stepTimers.moveStep(incident.id, stepIndex, timer.dueAt, dueAt);
  }
  if (!isAnswered) scheduleSteps(unit, incident.id, planned);
}

/** Whether the minutes of a step count from the end of what the incident waits for. */
function isWaiting({ countsFrom }: EscalationStep, { suppressedUntil }: IncidentRow): boolean {
  return countsFrom === toTimestamp(suppressedUntil ?? FAR_FUTURE);
}

/**
 * Returns what an incident that waits, and has fired no step, runs when it begins to page then, with the name of the
 * policy; null if that is what it was to run.
 */
export async function decideRun(
  { stores }: UnitOfWork,
  incident: IncidentRow & { readonly timers: readonly StepTimerRow[] },
  at: Temporal.Instant,
): Promise<(IncidentRun & { readonly name: string }) | null> {
  const { orgId, severity, steps, timers, suppressedUntil, triggeredAt } = incident;
  const policyId = steps[0]?.insteadOf ?? incident.escalationPolicyId;
  if (policyId === null || !steps.every((step) => isWaiting(step, incident)) || timers.some(hasActed)) return null;
  const findPolicy = await readPolicies(stores, orgId, [policyId]);
  const policy = findPolicy(policyId);
  if (policy === undefined) return null;
  const { teamId } = policy;
  const inUse = { escalationPolicyId: policyId, teamId, steps: readSteps(policy.steps) };
  const [before, after] = [suppressedUntil ?? triggeredAt, at].map((then) =>
    runOfPolicy(inUse, findPolicy, then, severity),
  );
  if (after === undefined || after.escalationPolicyId === null) return null;
  // Changes of the policy itself count from the next incident on.
  if (after.escalationPolicyId === incident.escalationPolicyId && isDeepStrictEqual(before, after)) return null;
  return { ...after, name: after.insteadOf?.runs ?? policy.name };
}

/** Whether a step of the incident has fired, or people had it page before its time, although it may be in a maintenance. */
export async function hasBegunToPage({ stores }: UnitOfWork, incidentId: Id<'incident'>): Promise<boolean> {
  return (await stores.stepTimers.listSteps([incidentId])).some(hasActed);
}

function hasActed({ state, reason }: StepTimerRow): boolean {
  if (state === 'cancelled') return reason !== 'acknowledged' && reason !== 'resolved';
  return state !== 'pending' || reason === 'escalated';
}

/**
 * Releases the incidents linked to a parent that ends while they are open: the oldest that nobody has answered begins
 * to page, for the rest as well.
 */
export async function releaseChildren(unit: UnitOfWork, parent: Pick<IncidentRow, 'id'>): Promise<void> {
  const { stores, now } = unit;
  const ids = await stores.suppression.listChildren(parent.id);
  if (ids.length === 0) return;
  const children = [...(await stores.incidents.lockAll(ids)).values()].filter(({ status }) => status !== 'resolved');
  const next = nextParent(children);
  if (next === null) return;
  await movePaging(unit, next, null);
  await stores.timeline.record(next.id, 'pages_itself', {}, now);
  await stores.suppression.link(
    children.map(({ id }) => id).filter((id) => id !== next.id),
    next.id,
  );
}

/**
 * An incident whose answer at `answeredAt` was taken back pages by itself if the one that paged for it is over. If it
 * waited for a maintenance when it was answered, it pages when that ends now, or at once.
 */
export async function resumePaging(
  unit: UnitOfWork,
  incidentId: Id<'incident'>,
  answeredAt: Temporal.Instant,
): Promise<void> {
  const { stores, now } = unit;
  const incident = await stores.incidents.lock(incidentId);
  if (incident === null) return;
  if (isWaitingForMaintenance(incident, answeredAt) && !(await hasBegunToPage(unit, incidentId))) {
    const suppressionTimes = await readSuppressionTimes(unit, incident.orgId);
    await followMaintenance(unit, incident, await findQuiet(unit, incident, suppressionTimes));
  }
  if (incident.status !== 'triggered' || incident.parentId === null) return;
  const parent = await stores.incidents.find(incident.orgId, incident.parentId);
  if (parent !== null && parent.status !== 'resolved') return;
  await movePaging(unit, incident, null);
  await stores.timeline.record(incident.id, 'pages_itself', {}, now);
}

/** Whether pages of the incident wait, or waited at that time, for the end of a maintenance. */
export function isWaitingForMaintenance({ suppressedUntil: until }: IncidentRow, at: Temporal.Instant): boolean {
  return until !== null && !isAtOrBefore(until, at);
}
