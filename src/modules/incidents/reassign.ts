import {
  type Assignee,
  followedBy,
  INCIDENT_STEPS_MAX,
  planReassignment,
} from '#modules/incidents/decide/reassignment.ts';
import type { IncidentActor, IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { type EscalationStep, stepCountOf } from '#modules/policies/decide/escalation.ts';
import { withdrawNews } from '#modules/incidents/paging/repage_stale.ts';
import type { Repeats } from '#modules/policies/decide/rounds.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';

/** A policy with its team, or a person with the channels that reach them. */
export type Target =
  | {
      readonly kind: 'policy';
      readonly policyId: Id<'policy'>;
      readonly teamId: Id<'team'>;
      readonly name: string;
      readonly steps: readonly EscalationStep[];
      /** Repetition of the steps; null for none. */
      readonly repeats: Repeats | null;
    }
  | Extract<Assignee, { kind: 'person' }>;

/** State of the incident as the person saw it when deciding. */
export interface SeenIncident {
  readonly status: IncidentStatus;
  readonly stepCount: number;
}

/**
 * Gives an incident, which the caller has locked, to other people, who are paged at once; it is triggered again if it was
 * acknowledged. An earlier step that is just firing has fired, or no longer fires. Throws `conflict` when
 * the incident is resolved, or is not as the person saw it: two people who reassign at once do not page two policies.
 */
export async function reassign(
  unit: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
  target: Target,
  seen: SeenIncident,
): Promise<void> {
  const { stores, now } = unit;
  requireAsSeen(incident, seen);
  const timers = await stores.stepTimers.listSteps([incident.id]);
  const plan = planReassignment({ ...incident, timers }, target, now);
  if (plan.steps.length > INCIDENT_STEPS_MAX) {
    throw new AppError(
      'conflict',
      `too many people are about to be paged, one after the other (${plan.steps.length}): reassign it to an escalation policy`,
    );
  }
  await stores.stepTimers.supersedeSteps(incident.id, now);
  await stores.notifications.supersedeCancelled(incident.id, now);
  const notified = incident.status === 'acknowledged' ? await cancelAcknowledgement(unit, incident, by) : [];
  const { policyId, teamId } =
    target.kind === 'policy' ? target : { policyId: incident.escalationPolicyId, teamId: incident.teamId };
  const steps = followedBy(incident.steps, plan.steps);
  const repeats = target.kind === 'policy' ? target.repeats : incident.repeats;
  await stores.incidents.reassign(
    { id: incident.id, steps, escalationPolicyId: policyId, teamId, repeats },
    plan.timers,
    now,
  );
  const to = target.kind === 'policy' ? { policy: target.name } : { userId: target.userId };
  const stepsLeft = target.kind === 'policy' ? 0 : plan.steps.length - 1;
  await stores.timeline.record(incident.id, 'reassigned', { by, ...to, stepsLeft, told: notified }, now);
  scheduleSteps(unit, incident.id, plan.timers);
}

function requireAsSeen({ status, steps }: IncidentRow, seen: SeenIncident): void {
  if (status === 'resolved') throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
  if (stepCountOf(steps) !== seen.stepCount) {
    throw new AppError('conflict', 'somebody else has reassigned this incident meanwhile; look who is paged now');
  }
  if (status !== seen.status) {
    throw new AppError(
      'conflict',
      `this incident is ${status} by now; reassign it again if it still needs somebody else`,
    );
  }
}

/** Reverts an acknowledgement to triggered. People who were told that it was acknowledged are told that it is not. */
async function cancelAcknowledgement(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<string[]> {
  await unit.stores.incidents.reopen(incident.id, 'triggered', unit.now);
  return await withdrawNews(unit, incident, 'acknowledged', by);
}
