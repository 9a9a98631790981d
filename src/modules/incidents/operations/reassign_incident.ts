import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { IncidentView, toIncidentView } from '#modules/incidents/view.ts';
import { INCIDENT_STATUSES, toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { decideRecipients } from '#modules/policies/decide/recipients.ts';
import { readContacts } from '#modules/incidents/paging/read_contacts.ts';
import { reassign, type Target } from '#modules/incidents/reassign.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { AppError, invalidInput, notFound } from '#kernel/errors.ts';
import { repeatsOf } from '#modules/policies/decide/rounds.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';

const To = Type.Object(
  { policyId: Type.Optional(IdText), userId: Type.Optional(IdText) },
  { ...STRICT, description: 'exactly one of them' },
);

export const reassignIncident = defineAction({
  name: 'reassign_incident',
  consoleOnly: true,
  summary:
    'Give an incident to another escalation policy, whose steps begin now, or to a person, who is paged at once with the ' +
    'steps that are left behind them. An acknowledged incident waits for somebody again.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      incidentId: IdText,
      to: To,
      seen: Type.Object(
        {
          status: Type.Enum([...INCIDENT_STATUSES]),
          stepCount: Type.Integer({ minimum: 0, description: 'escalation.stepCount' }),
        },
        { ...STRICT, description: 'the incident as the caller saw it: what has changed since is a conflict' },
      ),
    },
    STRICT,
  ),
  result: IncidentView,
  conflict:
    'the incident is resolved or not as it was seen, or nothing reaches the person, or their role cannot answer',
  example: {
    incidentId: EXAMPLE_IDS.incidentId,
    to: { userId: EXAMPLE_IDS.otherUserId },
    seen: { status: 'triggered', stepCount: 2 },
  },
  async handle({ incidentId, to, seen }, context) {
    const { stores, caller, now } = context;
    const incident = await lockIncident(incidentId, context);
    const target = await readTarget(to, incident, context);
    await reassign(context, incident, toIncidentActor(caller.actor, caller.via), target, seen);
    const after = await stores.incidents.get(caller.orgId, incident.id, now);
    context.record({
      target: incident.id,
      before: { status: incident.status, escalationPolicyId: incident.escalationPolicyId },
      after: {
        status: after.status,
        escalationPolicyId: after.escalationPolicyId,
        ...(target.kind === 'person' && { assignedTo: target.userId }),
      },
    });
    return toIncidentView(after, await stores.stepTimers.listSteps([incident.id]));
  },
});

async function readTarget(
  { policyId, userId }: Static<typeof To>,
  incident: IncidentRow,
  context: ActionContext,
): Promise<Target> {
  if ((policyId === undefined) === (userId === undefined)) {
    throw invalidInput([{ path: 'to', message: 'must have either policyId or userId' }]);
  }
  if (policyId !== undefined) {
    const policy = await context.stores.policies.lock(context.caller.orgId, policyId, 'to.policyId');
    const { caller, stores, now } = context;
    const run = runOfPolicy(
      { escalationPolicyId: policy.id, teamId: policy.teamId, steps: readSteps(policy.steps) },
      await readPolicies(stores, caller.orgId, [policy.id]),
      now,
      incident.severity,
    );
    const { steps, escalationPolicyId, teamId } = run;
    if (steps.length === 0) throw new AppError('conflict', 'this policy has no steps: it would page nobody');
    return {
      kind: 'policy',
      policyId: escalationPolicyId ?? policy.id,
      teamId: teamId ?? policy.teamId,
      name: run.insteadOf?.runs ?? policy.name,
      steps,
      repeats: repeatsOf(run),
    };
  }
  const { orgId } = context.caller;
  const person = (await context.stores.people.listReachable(orgId, [userId ?? ''])).get(userId ?? '');
  if (person === undefined) throw notFound('to.userId', 'user');
  if (!mayAnswer(person.role)) {
    const message = `${person.name} may neither acknowledge nor resolve in the role ${person.role}; choose somebody else, or give them the role responder`;
    throw new AppError('conflict', message);
  }
  const step = { afterMinutes: 0, channels: CHANNELS, targetUserIds: [person.userId], useSchedule: false };
  const contacts = await readContacts(context.stores, incident, [person.userId]);
  const { pages, nobodyReached } = decideRecipients(step, [], contacts, context.configuredChannels);
  if (nobodyReached !== null) {
    throw new AppError('conflict', `${person.name} cannot be paged: ${reasonOf(nobodyReached)}; choose somebody else`);
  }
  const channels = pages.filter(({ kind }) => kind === 'notify').map(({ channel }) => channel);
  return { kind: 'person', userId: person.userId, channels };
}
