import { planSteps } from '#modules/policies/decide/escalation.ts';
import { decideHold, decideRenew, decideTake, type LeaseDecision, leaseStateOf } from '#modules/agents/decide/lease.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { IncidentLeaseRow } from '#modules/agents/store/responder_store.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/**
 * Ends the leases of one agent, or of all of the organization (null), and what they have proposed and asked, because a
 * person has stopped them. Agents that are allowed again begin anew. Returns how many proposals ended.
 */
export async function endAgentWork(unit: UnitOfWork, orgId: Id<'org'>, agentId: string | null): Promise<number> {
  await endLeases(unit, orgId, agentId);
  return await unit.stores.proposals.endOpen(orgId, agentId, unit.now);
}

interface Agent {
  readonly agentId: string;
  readonly agentName: string;
}

export interface HeldLease {
  readonly lease: IncidentLeaseRow;
  /** Time at which the first step fires because of the lease; null if no step waits for it. */
  readonly heldUntil: Temporal.Instant | null;
}

/** Gives an agent the lease on an incident, which the caller has locked. Throws `conflict`. */
export async function takeLease(
  unit: UnitOfWork,
  incident: IncidentRow,
  { agentId, agentName }: Agent,
  minutes: number,
): Promise<HeldLease> {
  const { stores, now } = unit;
  const before = await stores.incidentLeases.find(incident.id);
  const held = await stores.incidentLeases.listHeld(incident.orgId, agentId, now);
  const othersHeld = held.filter(({ incidentId }) => incidentId !== incident.id).length;
  const expiresAt = granted(
    decideTake({ status: incident.status, lease: before, agentId, minutes, othersHeld }, now),
    before,
  );
  const lease = {
    ...ofIncident(incident),
    agentId,
    agentName,
    takenAt: now,
    renewedAt: now,
    expiresAt,
    releasedAt: null,
  };
  await stores.incidentLeases.save(lease);
  if (before !== null && leaseStateOf(before, now) === 'lost') {
    await stores.timeline.record(incident.id, 'lease_lost', { agent: before.agentName }, now);
  }
  const heldUntil = await applyHold(unit, incident, expiresAt);
  const entry = { agent: agentName, minutes, ...(heldUntil && { heldUntil: toTimestamp(heldUntil) }) };
  await stores.timeline.record(incident.id, 'lease_taken', entry, now);
  return { lease, heldUntil };
}

/** Extends a lease that the agent still holds. Throws `conflict`. */
export async function renewLease(
  unit: UnitOfWork,
  incident: IncidentRow,
  { agentId }: Agent,
  minutes: number,
): Promise<HeldLease> {
  const { stores, now } = unit;
  const before = await stores.incidentLeases.find(incident.id);
  const expiresAt = granted(decideRenew({ status: incident.status, lease: before, agentId, minutes }, now), before);
  if (before === null) throw new Error(`the lease on ${incident.id} was renewed without being there`);
  const lease = { ...before, renewedAt: now, expiresAt };
  await stores.incidentLeases.save(lease);
  return { lease, heldUntil: await applyHold(unit, incident, expiresAt) };
}

/** Gives the lease back; false when the agent does not hold it any more. */
export async function releaseLease(
  unit: UnitOfWork,
  incident: IncidentRow,
  { agentId }: Pick<Agent, 'agentId'>,
  because: 'released' | 'stopped',
): Promise<boolean> {
  const { stores, now } = unit;
  const lease = await stores.incidentLeases.find(incident.id);
  if (lease?.agentId !== agentId || leaseStateOf(lease, now) !== 'held') return false;
  await stores.incidentLeases.save({ ...lease, releasedAt: now });
  await applyHold(unit, incident, null);
  await stores.timeline.record(incident.id, 'lease_released', { agent: lease.agentName, because }, now);
  return true;
}

/** Ends the leases of one agent, or of all of the organization, because a person has stopped them. */
async function endLeases(unit: UnitOfWork, orgId: Id<'org'>, agentId: string | null): Promise<number> {
  const { stores, now } = unit;
  const held = await stores.incidentLeases.listHeld(orgId, agentId, now);
  let ended = 0;
  for (const lease of held) {
    const incident = await stores.incidents.lock(lease.incidentId);
    if (incident !== null && (await releaseLease(unit, incident, lease, 'stopped'))) ended += 1;
  }
  return ended;
}

/** Moves the first steps that leases hold to where the settings of the organization have them now. */
export async function renewHolds(unit: UnitOfWork, orgId: Id<'org'>): Promise<void> {
  const { stores, now } = unit;
  for (const { incidentId } of await stores.incidentLeases.listHeld(orgId, null, now)) {
    const incident = await stores.incidents.lock(incidentId);
    const lease = await stores.incidentLeases.find(incidentId);
    if (incident === null || lease === null || leaseStateOf(lease, now) !== 'held') continue;
    await applyHold(unit, incident, lease.expiresAt);
  }
}

async function applyHold(
  { stores, now, enqueue }: UnitOfWork,
  incident: IncidentRow,
  leaseUntil: Temporal.Instant | null,
): Promise<Temporal.Instant | null> {
  const { holdMinutes } = await stores.responders.getSettings(incident.orgId);
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const planned = planSteps(incident.steps, incident.triggeredAt);
  const moved = decideHold({ status: incident.status, planned, timers, holdMinutes, leaseUntil }, now);
  if (moved === null) return null;
  const { stepIndex, dueAt } = moved;
  const from = timers.find((timer) => timer.stepIndex === stepIndex)?.dueAt;
  if (from === undefined || !(await stores.stepTimers.moveStep(incident.id, stepIndex, from, dueAt))) return null;
  enqueue(runEscalationStep, { incidentId: incident.id, stepIndex }, dueAt);
  return dueAt;
}

function ofIncident({ id, orgId }: IncidentRow) {
  return { incidentId: id, orgId };
}

function granted(decision: LeaseDecision, lease: IncidentLeaseRow | null): Temporal.Instant {
  if (decision.kind === 'grant') return decision.expiresAt;
  throw new AppError('conflict', refusalOf(decision.because, lease));
}

type Because = Extract<LeaseDecision, { kind: 'conflict' }>['because'];

function refusalOf(because: Because, lease: IncidentLeaseRow | null): string {
  switch (because) {
    case 'resolved':
      return 'this incident is resolved; there is nothing left to work on';
    case 'held_by_another':
      return `the agent ${JSON.stringify(lease?.agentName ?? '')} holds the lease on this incident until ${lease === null ? 'later' : toTimestamp(lease.expiresAt)}`;
    case 'too_many':
      return 'you hold leases on ten incidents; release one first';
    case 'not_held':
      return 'you do not hold the lease on this incident, or it was lost; take_lease takes it again';
  }
}
