import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { decideSeverity } from '#modules/incidents/decide/incident_limit.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { exportIncidents } from '#modules/incidents/operations/export_incidents.ts';
import { pageAnew } from '#modules/incidents/paging/schedule_steps.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';

export const setIncidentSeverity = defineOperation({
  name: 'set_incident_severity',
  summary:
    'Change the severity of an open incident. If it is raised and nobody has answered, its policy pages anew from the ' +
    'first step where the caller asks for it, or where the policy does something else at the new severity, such as not ' +
    'waiting for its hours.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    severity: Type.Enum([...LEVELS]),
    pagesAnew: Type.Boolean({ description: 'page anew from the first step if it is raised and nobody has answered' }),
  }),
  result: IncidentView,
  conflict: 'the incident is resolved',
  example: { severity: 'fatal', pagesAnew: true },
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

/** Names who leads the response. Nobody is paged by it, and anybody may still answer. */
export const setIncidentCommander = defineOperation({
  name: 'set_incident_commander',
  summary: 'Say who leads the response to an open incident, or that nobody does. It pages nobody.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    userId: nullable(Type.String({ description: 'a member of the organization; null for nobody' })),
    seen: nullable(Type.String({ description: 'who led it as the caller saw it: somebody else since is a conflict' })),
  }),
  result: IncidentView,
  conflict: 'the incident is resolved, or somebody else leads it by now',
  example: { userId: EXAMPLE_IDS.otherUserId, seen: null },
  async handle({ incidentId, userId, seen }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const person = userId === null ? null : (await stores.people.listPeople(caller.orgId, [userId])).get(userId);
    if (person === undefined) throw notFound('userId', 'user');
    if (incident.status === 'resolved') {
      throw new AppError('conflict', 'this incident is resolved; reopen it if it is not over');
    }
    const next = person === null ? null : person.userId;
    if (incident.commanderId !== next) {
      if (incident.commanderId !== seen) {
        throw new AppError('conflict', 'somebody else leads this incident by now; look who it is');
      }
      await stores.incidentResponse.setCommander(incident.id, next, now);
      const by = toIncidentActor(caller.actor, caller.via);
      const facts = { by, userId: next, before: incident.commanderId };
      await stores.timeline.record(incident.id, 'commander_changed', facts, now);
      context.record({
        target: incident.id,
        before: { commanderId: incident.commanderId },
        after: { commanderId: next },
      });
    }
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});

/** Operations of the response to incidents, and of looking back at it. */
export const RESPONSE_OPERATIONS = [setIncidentSeverity, setIncidentCommander, exportIncidents] as const;
