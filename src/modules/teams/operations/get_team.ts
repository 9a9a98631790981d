import { Type } from 'typebox';

import { defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import { PersonColorNumber } from '#modules/accounts/view.ts';
import { PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import { onCallNow, PersonOnCallView, readTeams } from '#modules/teams/read_teams.ts';
import { ReadinessView, readReadiness, shownPhone } from '#modules/teams/readiness_view.ts';
import { MemberView, TEAM_FIELDS, toMemberView, toTeamView } from '#modules/teams/view.ts';
import { readWarnings, WarningView } from '#modules/teams/warnings.ts';
import { notFound } from '#kernel/errors.ts';

export const getTeam = defineOperation({
  name: 'get_team',
  summary: 'Show a team with its members, how each is reached, and whether a page would wake them.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ teamId: IdText }),
  result: Type.Object({
    ...TEAM_FIELDS,
    onCall: Type.Array(PersonOnCallView, { description: 'who is on call now' }),
    memberCount: Type.Integer(),
    members: Type.Array(Type.Object({ ...MemberView.properties, color: PersonColorNumber, readiness: ReadinessView }), {
      description: `in their order; at most ${LIST_LIMIT}. The phone is masked for those who may not change it`,
    }),
    schedules: Type.Array(
      Type.Object({
        scheduleId: IdText,
        name: Type.String(),
        userIds: Type.Array(IdText, { description: 'people who take turns, on any layer' }),
      }),
    ),
    policies: Type.Array(PolicyView),
    warnings: Type.Array(WarningView),
  }),
  async handle({ teamId }, context) {
    const { stores, caller } = context;
    const [team] = await readTeams([await stores.teams.get(caller.orgId, teamId)], context);
    if (team === undefined) throw notFound('teamId', 'team');
    const [warnings = []] = await readWarnings([team], context);
    const members = team.members.slice(0, LIST_LIMIT);
    const readinessOf = await readReadiness(members, context);
    return {
      ...toTeamView(team.team),
      onCall: onCallNow(team),
      memberCount: team.members.length,
      members: members.map((member) => ({
        ...toMemberView(member),
        color: member.color,
        phone: shownPhone(member.phone, member.userId, caller),
        readiness: readinessOf(member, member),
      })),
      schedules: team.onCall.schedules.map(({ schedule }) => {
        const turns = readLayers(schedule).flatMap((layer) => layer.turns);
        return {
          scheduleId: schedule.id,
          name: schedule.name,
          userIds: [...new Set(turns.flatMap(({ userIds }) => userIds))],
        };
      }),
      policies: team.policies.map(toPolicyView),
      warnings,
    };
  },
});
