import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { FreeText, IdText, Name, nullable, StrictObject } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { createEscalationPolicy } from '#modules/policies/operations/create_escalation_policy.ts';
import { createAlertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { createSchedule } from '#modules/schedules/operations/create_schedule.ts';
import { createService } from '#modules/services/operations/create_service.ts';
import { enableCapability } from '#modules/capabilities/operations/enable_capability.ts';
import { addTeamMember } from '#modules/teams/operations/add_team_member.ts';
import { Phone } from '#modules/teams/view.ts';
import { createTeam } from '#modules/teams/operations/create_team.ts';
import { CAPABILITIES, type Capability } from '#modules/capabilities/decide/capability.ts';
import { type Channel, CHANNELS } from '#modules/contacts/decide/channel.ts';
import { AppError } from '#kernel/errors.ts';

/** Capabilities that a rule for exceptions and its pages need. */
const NEEDED: readonly Capability[] = ['exceptions', 'oncall'];

/** Minutes after which the second step fires, while nobody has answered. */
const SECOND_STEP_MINUTES = 5;

/** Sets up everything or nothing: it calls the actions one after the other in one transaction. */
export const setUpPaging = defineOperation({
  name: 'set_up_paging',
  summary:
    'Set up all that a first page needs: a service with its capabilities, a team with the caller in it, a weekly schedule, an escalation policy, and a rule that pages on new exceptions.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject(
    {
      serviceId: nullable(IdText),
      serviceName: nullable(Name),
      teamName: Name,
      phone: nullable(Phone),
      timezone: FreeText,
    },
    { description: 'serviceId is null for a new service, which serviceName names then' },
  ),
  result: Type.Object({ serviceId: IdText, teamId: IdText, policyId: IdText, ruleId: IdText }),
  validate: ({ serviceId, serviceName }) =>
    serviceId === null && serviceName === null
      ? [{ path: 'serviceName', message: 'is required for a new service' }]
      : [],
  conflict: 'no channel is set up on this server',
  refusals: ['forbidden'],
  example: { serviceName: null, teamName: 'On call', phone: '+31612345678', timezone: 'Europe/Amsterdam' },
  async handle({ serviceId: existing, serviceName, teamName, phone, timezone }, context) {
    const { caller, stores } = context;
    if (!caller.permissions.has('oncall:edit')) throw new AppError('forbidden', 'your role may not change on-call');
    const userId = callerUser(caller);
    const steps = firstSteps(context);
    const serviceId =
      existing ?? (await createService.handle({ name: serviceName ?? '' }, context, undefined)).serviceId;
    const { capabilities } = await stores.services.get(caller.orgId, serviceId);
    const wanted = existing === null ? CAPABILITIES : NEEDED;
    for (const capability of wanted.filter((candidate) => !capabilities.includes(candidate))) {
      await enableCapability.handle({ serviceId, capability }, context, undefined);
    }
    const { teamId } = await createTeam.handle({ name: teamName }, context, undefined);
    await addTeamMember.handle({ teamId, userId, ...(phone !== null && { phone }) }, context, undefined);
    const rotationConfig = { userIds: [userId] };
    await createSchedule.handle({ teamId, name: 'Primary', timezone, rotationConfig }, context, undefined);
    const { policyId } = await createEscalationPolicy.handle(
      { teamId, name: 'Wake somebody', steps },
      context,
      undefined,
    );
    const rule = { serviceId, name: 'New exceptions', kind: 'exception', config: {}, escalationPolicyId: policyId };
    const { ruleId } = await createAlertRule.handle({ ...rule, kind: 'exception' }, context, undefined);
    return { serviceId, teamId, policyId, ruleId };
  },
});

/** Returns first steps: at once by quiet channels, then by channels that wake, as far as these are set up. */
function firstSteps({ configuredChannels }: Pick<ActionContext, 'configuredChannels'>) {
  const configured = CHANNELS.filter((channel) => configuredChannels.has(channel));
  const [only] = configured;
  if (only === undefined) throw new AppError('conflict', 'no channel is set up on this server, so nobody can be paged');
  const among = (wanted: readonly Channel[]) => configured.filter((channel) => wanted.includes(channel));
  const first = among(['push', 'sms', 'email']);
  const second = among(['call']);
  const step = (afterMinutes: number, channels: readonly Channel[]) => {
    return { afterMinutes, channels: [...channels], targetUserIds: [], useSchedule: true };
  };
  return [
    step(0, first.length > 0 ? first : [only]),
    ...(second.length > 0 && first.length > 0 ? [step(SECOND_STEP_MINUTES, second)] : []),
  ];
}
