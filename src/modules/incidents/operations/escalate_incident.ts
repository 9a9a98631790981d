import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { decideEscalate, type EscalateDecision } from '#modules/incidents/decide/escalation_state.ts';
import { type IncidentActor, toIncidentActor } from '#modules/incidents/decide/incident.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import type { UnitOfWork } from '#modules/stores.ts';
import { runEscalationStep } from '#storage/queue/jobs.ts';

const REFUSED: Record<Extract<EscalateDecision, { kind: 'conflict' }>['because'], string> = {
  acknowledged: 'somebody has acknowledged this incident; hand it over to page somebody else',
  resolved: 'this incident is resolved; reopen it if it is not over',
  reassigned: 'this incident was handed over meanwhile; look at the steps that it has now',
  no_such_step: 'this incident has no such step',
};

/**
 * Fires a step of an incident, which the caller has locked, at once because a person asks for it. Returns false when the
 * step has fired already; throws `conflict` when nothing may fire any more.
 */
async function escalate(
  unit: UnitOfWork,
  incident: IncidentRow,
  by: IncidentActor,
  stepIndex: number,
): Promise<boolean> {
  const { stores, now, enqueue } = unit;
  const decision = decideEscalate(incident.status, await stores.stepTimers.listSteps([incident.id]), stepIndex, now);
  if (decision.kind === 'unchanged') return false;
  if (decision.kind === 'conflict') throw new AppError('conflict', REFUSED[decision.because]);
  await stores.stepTimers.expediteStep(incident.id, stepIndex, now, 'escalated');
  await stores.timeline.record(incident.id, 'escalated', { by, stepIndex }, now);
  enqueue(runEscalationStep, { incidentId: incident.id, stepIndex, isExpedited: true });
  return true;
}

export const escalateIncident = defineOperation({
  name: 'escalate_incident',
  summary: 'Fire a step of an escalation at once, before its time. A step that has fired already stays as it is.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    stepIndex: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'from 0: the step to fire now' }),
  }),
  result: IncidentView,
  conflict: 'the incident is acknowledged or resolved, or was handed over',
  example: { stepIndex: 1 },
  async handle({ incidentId, stepIndex }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const isExpedited = await escalate(context, incident, toIncidentActor(caller.actor, caller.via), stepIndex);
    if (isExpedited) context.record({ target: incident.id, before: null, after: { firedStep: stepIndex } });
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});
