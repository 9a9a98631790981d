import { defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { changeStatus, resolve } from '#modules/incidents/change_status.ts';
import { decideReopen, type IncidentActor, REOPEN_DAYS_MAX } from '#modules/incidents/decide/incident.ts';
import { resumeEscalation, withdrawStatusUpdates } from '#modules/incidents/paging/acknowledgement_timeout.ts';
import { resumePaging } from '#modules/incidents/paging/suppression.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { ACKNOWLEDGED_EXAMPLE, INCIDENT_UNTRUSTED_TEXT, IncidentView } from '#modules/incidents/view.ts';
import type { UnitOfWork } from '#modules/stores.ts';

export const resolveIncident = defineAction({
  name: 'resolve_incident',
  summary: 'Resolve an incident: escalation ends. A new breach opens a new incident.',
  guidance: 'Only when the cause is gone.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ incidentId: IdText }),
  result: IncidentView,
  untrustedText: INCIDENT_UNTRUSTED_TEXT,
  aliases: ['resolve', 'resolve_alert', 'close_alert'],
  example: { incidentId: IDS.incidentId },
  exampleResult: {
    ...ACKNOWLEDGED_EXAMPLE,
    status: 'resolved',
    resolvedAt: '2027-02-03T02:41:03.211Z',
    resolvedBy: { userId: IDS.userId, via: 'rest' },
    escalation: { state: 'finished', nextStep: null, nextStepAt: null, waitsFor: null, stepCount: 2, firstStep: 0 },
    updatedAt: '2027-02-03T02:41:03.211Z',
  },
  async handle({ incidentId }, context) {
    return await changeStatus(incidentId, context, resolve);
  },
});

export const reopenIncident = defineOperation({
  name: 'reopen_incident',
  summary:
    'Undo that an incident was resolved: it is acknowledged again if it was before; otherwise its escalation continues. ' +
    'Notices of the resolution that were not sent yet are cancelled, and everyone who received one is told that it is open again.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ incidentId: IdText }),
  result: IncidentView,
  conflict: 'its cause has opened a new incident meanwhile, or its exception group is resolved or ignored',
  async handle({ incidentId }, context) {
    const { stores, caller, now } = context;
    await lockCause(context, await stores.incidents.get(caller.orgId, incidentId, now));
    return await changeStatus(incidentId, context, reopen);
  },
});

/**
 * Undoes that an incident was resolved. The caller has locked its cause first and then the incident. It is acknowledged
 * again if it was, otherwise its escalation resumes. Returns false when it is open already; throws `conflict` when its
 * cause has opened another incident, when its exception group is resolved or ignored, or when it was resolved too long ago.
 */
async function reopen(unit: UnitOfWork, incident: IncidentRow, by: IncidentActor): Promise<boolean> {
  const decision = decideReopen(incident, unit.now);
  if (decision.kind === 'unchanged') return false;
  if (decision.kind === 'too_late') {
    throw new AppError('conflict', `it was resolved more than ${REOPEN_DAYS_MAX} days ago; declare a new incident`);
  }
  await requireUnresolvedGroup(unit, incident);
  await requireShadow(unit, incident);
  // The silence of its metric counts from now on again.
  if (incident.ruleId !== null) await unit.stores.ruleMemory.clearAll(incident.ruleId);
  if (!(await unit.stores.incidents.reopen(incident.id, decision.to, unit.now))) {
    throw new AppError('conflict', 'its cause has opened a new incident meanwhile; take care of that one');
  }
  const resolvedAt = incident.resolvedAt ?? unit.now;
  const resumedMessages = decision.to === 'triggered' ? await resumeEscalation(unit, incident, resolvedAt) : 0;
  await resumePaging(unit, incident.id, incident.acknowledgedAt ?? resolvedAt);
  const notified = await withdrawStatusUpdates(unit, incident, 'resolved', by);
  const data = { by, status: decision.to, resumedMessages, told: notified };
  await unit.stores.timeline.record(incident.id, 'reopened', data, unit.now);
  return true;
}

/**
 * Locks the cause of an incident, so that it opens no other until the transaction ends. Lock it before the incident.
 */
async function lockCause({ stores }: UnitOfWork, { ruleId, exceptionGroupId }: IncidentRow): Promise<void> {
  if (exceptionGroupId !== null) await stores.exceptionGroups.lockStatus(exceptionGroupId);
  else if (ruleId !== null) await stores.activeRules.lockDecision(ruleId);
}

/** An incident of shadow mode that is over pages nobody: reopened, it would look as if somebody were called. */
async function requireShadow({ stores }: UnitOfWork, { isShadow, serviceId }: IncidentRow): Promise<void> {
  if (!isShadow || (await stores.shadow.findServices([serviceId])).has(serviceId)) return;
  throw new AppError(
    'conflict',
    'it was opened in shadow mode, which is over, and would page nobody; declare a new incident',
  );
}

/** An exception group that is resolved or ignored has no open incidents. */
async function requireUnresolvedGroup({ stores }: UnitOfWork, { exceptionGroupId }: IncidentRow): Promise<void> {
  if (exceptionGroupId === null) return;
  const status = await stores.exceptionGroups.lockStatus(exceptionGroupId);
  if (status === null || status === 'unresolved') return;
  throw new AppError('conflict', `its exception group is ${status}; set the group to unresolved first`);
}
