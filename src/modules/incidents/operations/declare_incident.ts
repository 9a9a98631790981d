import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, RequestKey, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import { type IncidentActor, toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { heldEventsOf } from '#modules/incidents/paging/hold.ts';
import { scheduleSteps } from '#modules/incidents/paging/schedule_steps.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { DECLARED_TITLE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { type EscalationStep, planSteps } from '#modules/policies/decide/escalation.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import { areSteps, readSteps } from '#modules/policies/decide/stored_steps.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import type { UnitOfWork } from '#modules/stores.ts';

interface Declaration {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly title: string;
  readonly severity: Level;
  /** Policy that pages people; null if the incident pages nobody. */
  readonly policy: {
    readonly id: Id<'policy'>;
    readonly teamId: Id<'team'>;
    readonly steps: readonly EscalationStep[];
  } | null;
  /** Idempotency key: equal for the same request, however often it arrives. */
  readonly requestKey: string;
}

const WITHIN_MINUTES = 10;

/**
 * Opens an incident in the name of a person; it pages like any other. Asked again with the same key while it is open,
 * returns the same incident. Throws `rate_limited` where an organization declares more than anybody could handle.
 */
async function declare(
  unit: UnitOfWork,
  declaration: Declaration,
  by: IncidentActor,
  { declaredIncidentsMax }: Pick<Limits, 'declaredIncidentsMax'>,
): Promise<{ readonly incidentId: Id<'incident'>; readonly isNew: boolean }> {
  const { stores, now } = unit;
  const { orgId, serviceId, title, severity, policy, requestKey } = declaration;
  const dedupKey = `declared.${orgId}.${requestKey}`;
  await stores.incidents.holdDeclaring(orgId);
  const open = await stores.incidents.findOpenId(dedupKey);
  if (open !== null) return { incidentId: open, isNew: false };
  const since = now.subtract({ minutes: WITHIN_MINUTES });
  const declared = await stores.incidents.countDeclared(orgId, since, declaredIncidentsMax);
  if (declared >= declaredIncidentsMax) {
    throw new AppError(
      'rate_limited',
      `${declaredIncidentsMax} incidents were declared within ${WITHIN_MINUTES} minutes; wait, or add notes to those`,
      { limit: 'declaredIncidentsMax', retryAfterSeconds: 60 },
    );
  }
  const run = runOfPolicy(
    { escalationPolicyId: policy?.id ?? null, teamId: policy?.teamId ?? null, steps: readSteps(policy?.steps ?? []) },
    policy === null ? () => undefined : await readPolicies(stores, orgId, [policy.id]),
    now,
    severity,
  );
  const { escalationPolicyId, teamId, steps } = run;
  const timers = planSteps(steps, now);
  const isShadow = (await stores.shadow.findServices([serviceId])).has(serviceId);
  const incidentId = await stores.incidents.open(
    {
      orgId,
      serviceId,
      ruleId: null,
      exceptionGroupId: null,
      escalationPolicyId,
      teamId,
      kind: 'manual',
      dedupKey,
      title,
      severity,
      details: {},
      steps,
      repeats: repeatsOf(run),
      suppressedUntil: null,
      parentId: null,
      isShadow,
    },
    timers,
    now,
  );
  if (incidentId === null) throw new Error(`an incident was opened under ${dedupKey} in spite of the lock`);
  await stores.timeline.record(incidentId, 'declared', { by }, now);
  if (isShadow) await stores.timeline.record(incidentId, 'shadow', {}, now);
  if (policy !== null && !areSteps(policy.steps)) {
    await stores.timeline.record(incidentId, 'policy_unreadable', {}, now);
  }
  if (run.insteadOf !== null) await stores.timeline.record(incidentId, 'other_policy', { ...run.insteadOf }, now);
  await stores.timeline.recordAll(heldEventsOf(incidentId, steps, timers, now), now);
  if (timers.length === 0) {
    const reason = policy === null ? 'none_chosen' : 'no_steps';
    await stores.timeline.record(incidentId, 'nobody_paged', { reason }, now);
  }
  scheduleSteps(unit, incidentId, timers);
  return { incidentId, isNew: true };
}

export const declareIncident = defineOperation({
  name: 'declare_incident',
  summary: 'Open an incident by hand. It pages by the escalation policy that is named, or nobody.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    title: Type.String({
      minLength: 1,
      maxLength: DECLARED_TITLE_LENGTH_MAX,
      pattern: '\\S',
      description: 'what is wrong, in a sentence',
    }),
    severity: Type.Enum([...LEVELS]),
    escalationPolicyId: nullable(IdText),
    requestKey: RequestKey,
  }),
  result: IncidentView,
  conflict: 'on-call is not enabled for the service',
  example: {
    title: 'Customers cannot pay with cards',
    severity: 'error',
    escalationPolicyId: EXAMPLE_IDS.policyId,
    requestKey: '0b6f3c52-7d0e-4f5e-9a41-2f9f0c6f7f11',
  },
  async handle({ serviceId, title, severity, escalationPolicyId, requestKey }, context) {
    const { stores, caller, now, record } = context;
    const service = await stores.services.get(caller.orgId, serviceId);
    if (!service.capabilities.includes('oncall')) {
      throw new AppError('conflict', 'on-call is not enabled for this service; enable it on the page of the service');
    }
    const policy =
      escalationPolicyId === null
        ? null
        : await stores.policies.lock(caller.orgId, escalationPolicyId, 'escalationPolicyId');
    const { incidentId, isNew } = await declare(
      context,
      {
        orgId: caller.orgId,
        serviceId: service.id,
        title: title.replaceAll(/\s+/g, ' ').trim(),
        severity,
        policy: policy && { id: policy.id, teamId: policy.teamId, steps: policy.steps },
        requestKey,
      },
      toIncidentActor(caller.actor, caller.via),
      context.installation.limits,
    );
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    if (isNew) {
      const after = { status: incident.status, serviceId: service.id, title: incident.title, severity };
      record({
        target: incidentId,
        before: null,
        after: { ...after, escalationPolicyId: incident.escalationPolicyId },
      });
    }
    return toIncidentView(incident, await stores.stepTimers.listSteps([incidentId]));
  },
});
