import { Type } from 'typebox';

import { DECLARED_TITLE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, RequestKey } from '#actions/fields.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { declare } from '#modules/incidents/declare.ts';
import { AppError } from '#kernel/errors.ts';

export const declareIncident = defineAction({
  name: 'declare_incident',
  consoleOnly: true,
  summary: 'Open an incident by hand. It pages by the escalation policy that is named, or nobody.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
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
    },
    STRICT,
  ),
  result: IncidentView,
  conflict: 'on-call is not enabled for the service',
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
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
