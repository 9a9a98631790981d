import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, STRICT } from '#actions/fields.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { decideSeverity } from '#modules/incidents/decide/decide_severity.ts';
import { pageAnew } from '#modules/incidents/paging/schedule_steps.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';
import { AppError } from '#kernel/errors.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';

export const setIncidentSeverity = defineAction({
  name: 'set_incident_severity',
  consoleOnly: true,
  summary:
    'Change the severity of an open incident. If it is raised and nobody has answered, its policy pages anew from the ' +
    'first step where the caller asks for it, or where the policy does something else at the new severity, such as not ' +
    'waiting for its hours.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      incidentId: IdText,
      severity: Type.Enum([...LEVELS]),
      pagesAnew: Type.Boolean({ description: 'page anew from the first step if it is raised and nobody has answered' }),
    },
    STRICT,
  ),
  result: IncidentView,
  conflict: 'the incident is resolved',
  example: { incidentId: EXAMPLE_IDS.incidentId, severity: 'fatal', pagesAnew: true },
  async handle({ incidentId, severity, pagesAnew }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const decision = decideSeverity(incident, severity, now);
    if (decision.kind === 'conflict') {
      throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
    }
    if (decision.kind === 'change') {
      await stores.incidentResponse.setSeverity(incident.id, severity, now);
      const pages =
        decision.mayPage &&
        (await pageIfItMatters({ ...incident, severity }, { from: incident.severity, pagesAnew }, context));
      const by = toIncidentActor(caller.actor, caller.via);
      const facts = { by, from: incident.severity, to: severity, pages };
      await stores.timeline.record(incident.id, 'severity_changed', facts, now);
      context.record({
        target: incident.id,
        before: { severity: incident.severity },
        after: { severity, ...(pages && { pagesAnew: true }) },
      });
    }
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});

/** Pages anew by the policy of the incident as it is now; returns false where nothing changes, or nobody would be paged. */
async function pageIfItMatters(
  incident: IncidentRow,
  { from, pagesAnew }: { readonly from: string; readonly pagesAnew: boolean },
  context: ActionContext,
): Promise<boolean> {
  const { stores, now } = context;
  const { orgId, escalationPolicyId, severity } = incident;
  if (escalationPolicyId === null) return false;
  const findPolicy = await readPolicies(stores, orgId, [escalationPolicyId]);
  const policy = findPolicy(escalationPolicyId);
  if (policy === undefined) return false;
  const plan = { escalationPolicyId, teamId: policy.teamId, steps: readSteps(policy.steps) };
  const [before, after] = [from, severity].map((level) => runOfPolicy(plan, findPolicy, now, level));
  if (before === undefined || after === undefined) return false;
  if (!pagesAnew && isDeepStrictEqual(before, after)) return false;
  return await pageAnew(context, incident, after);
}
