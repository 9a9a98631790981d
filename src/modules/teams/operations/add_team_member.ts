import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { notifyOfNumberChange, requireMayEnterNumber } from '#modules/teams/change_number.ts';
import {
  CHANNEL_SWITCHES,
  MEMBER_EXAMPLE,
  MemberView,
  Phone,
  readMember,
  toMemberRecord,
} from '#modules/teams/view.ts';
import { OnCallWarnings, readMembershipWarnings } from '#modules/teams/warnings.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import { asId } from '#kernel/ids.ts';
import { recordOf } from '#kernel/records.ts';

export const addTeamMember = defineAction({
  name: 'add_team_member',
  summary:
    'Add a user of the organization to an on-call team, behind its last member. Every channel that is not switched off is on, and used once an address for it is known: a phone for SMS and calls, a subscribed browser for push, the e-mail of the account.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ teamId: IdText, userId: IdText, phone: Type.Optional(Phone), ...CHANNEL_SWITCHES }),
  result: Type.Object({ ...MemberView.properties, warnings: OnCallWarnings }),
  conflict: 'the user is a member of the team already',
  conflictHint: 'list_teams shows the member; update_team_member changes phone and channels.',
  example: {
    teamId: IDS.teamId,
    userId: IDS.userId,
    phone: '+31612345678',
    smsEnabled: true,
    callEnabled: true,
    pushEnabled: true,
    emailEnabled: false,
  },
  exampleResult: { ...MEMBER_EXAMPLE, warnings: [] },
  async handle(input, context) {
    const { stores, caller, now, record, configuredChannels } = context;
    const team = await stores.teams.lock(caller.orgId, input.teamId);
    const change = { before: null, after: input.phone ?? null };
    await requireMayEnterNumber(context, caller, asId('user', input.userId), change);
    const member = await stores.teams.insertMember(
      team,
      input.userId,
      { phone: input.phone ?? null, ...recordOf(CHANNEL_PREFERENCES, (preference) => input[preference] ?? true) },
      now,
    );
    await notifyOfNumberChange(context, caller, member.userId, change, configuredChannels);
    record({ target: member.id, before: null, after: toMemberRecord(member) });
    return { ...(await readMember(member, context)), warnings: await readMembershipWarnings(member, context) };
  },
});
