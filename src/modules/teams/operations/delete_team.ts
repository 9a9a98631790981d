import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { toPolicyView } from '#modules/policies/view.ts';
import { toScheduleView } from '#modules/schedules/view.ts';
import { requireUnnamed } from '#modules/policies/check_references.ts';
import { readTeams, toMemberRecord, toTeamView } from '#modules/teams/view.ts';

export const deleteTeam = defineAction({
  name: 'delete_team',
  summary:
    'Delete an on-call team with its schedules and escalation policies. Alert rules that used one of its policies stay, and page nobody until they get another.',
  guidance: 'Ask your user first.',
  permission: 'oncall:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ teamId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), teamId: IdText }),
  conflict: 'an escalation policy of another team names it, or one of its policies',
  example: { teamId: IDS.teamId },
  exampleResult: { deleted: true, teamId: IDS.teamId },
  async handle({ teamId }, context) {
    const { stores, caller, now, record } = context;
    const team = await stores.teams.lock(caller.orgId, teamId);
    const policies = await stores.policies.lockOfTeam(caller.orgId, team.id);
    const ids = [team.id, ...policies.map(({ id }) => id)];
    await requireUnnamed({ noun: 'team, or one of its policies,', ids, teamId: team.id }, context);
    const detachedRuleIds = await stores.alertRules.detach(
      caller.orgId,
      policies.map(({ id }) => id),
      now,
    );
    const [whole] = await readTeams([team], context);
    const before = {
      ...toTeamView(team),
      members: whole?.members.map(toMemberRecord),
      schedules: whole?.onCall.schedules.map(({ schedule }) => toScheduleView(schedule)),
      escalationPolicies: policies.map(toPolicyView),
      detachedRuleIds,
    };
    record({ target: team.id, before, after: null });
    await stores.teams.delete(team);
    return { deleted: true as const, teamId: team.id };
  },
});
