import { Type } from 'typebox';

import { defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject } from '#actions/fields.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { PersonColorNumber } from '#modules/accounts/view.ts';
import { readSteps } from '#modules/policies/decide/stored_steps.ts';
import { AfterMinutes, ChannelName, PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { readLayers } from '#modules/schedules/decide/stored_layers.ts';
import {
  MemberView,
  onCallNow,
  PersonOnCallView,
  ReadinessView,
  readReadiness,
  readTeams,
  shownPhone,
  TEAM_FIELDS,
  toMemberView,
  toTeamView,
  type WholeTeam,
} from '#modules/teams/view.ts';
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

const ReachView = Type.Object({
  teamId: nullable(Type.String({ description: 'null: incidents of teams that the person is not in' })),
  teamName: nullable(Type.String()),
  phone: nullable(Type.String({ description: 'masked for those who may not change it' })),
  readiness: ReadinessView,
  steps: Type.Array(
    Type.Object({
      policyId: IdText,
      policyName: Type.String(),
      afterMinutes: AfterMinutes,
      channels: Type.Array(ChannelName),
    }),
    { description: 'steps of the policies of the team that page the person, the earliest first' },
  ),
});

/** Shows how a page reaches one member of the organization, by each of their teams. */
export const getMemberReach = defineOperation({
  name: 'get_member_reach',
  summary: 'Show how a page reaches a member in each of their teams: number, channels, and the steps that page them.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ userId: IdText }),
  result: Type.Object({
    places: Type.Array(ReachView, { description: 'by team, the oldest first; for somebody in no team one without' }),
  }),
  async handle({ userId: id }, context) {
    const { stores, caller } = context;
    const userId = asId('user', id);
    const person = (await stores.people.listReachable(caller.orgId, [userId])).get(userId);
    if (person === undefined) throw notFound('userId', 'member');
    const places = await stores.teams.listPlacesOf(caller.orgId, userId);
    const readinessOf = await readReadiness([person], context);
    const { phone: ownPhone } = person.own;
    if (places.length === 0) {
      const phone = shownPhone(ownPhone, userId, caller);
      return { places: [{ teamId: null, teamName: null, phone, readiness: readinessOf(person, null), steps: [] }] };
    }
    const rows = await stores.teams.findAll(
      caller.orgId,
      places.map(({ teamId }) => teamId),
    );
    const teams = new Map((await readTeams(rows, context)).map((team) => [team.team.id, team]));
    return {
      places: places.map((place) => {
        const team = teams.get(place.teamId);
        return {
          teamId: place.teamId,
          teamName: place.teamName,
          phone: shownPhone(place.phone ?? ownPhone, userId, caller),
          readiness: readinessOf(person, place),
          steps: team === undefined ? [] : stepsPaging(userId, team),
        };
      }),
    };
  },
});

/** Returns the steps of a team's policies that page one of its members: by name, by a schedule, or with the team. */
function stepsPaging(userId: Id<'user'>, { team, policies, onCall }: WholeTeam) {
  const turns = onCall.schedules.flatMap(({ schedule }) =>
    readLayers(schedule).some((layer) => layer.turns.some(({ userIds }) => userIds.includes(userId)))
      ? [schedule.id]
      : [],
  );
  return policies
    .flatMap((policy) =>
      readSteps(policy.steps)
        .filter(
          ({ targetUserIds, useSchedule, scheduleIds = turns, members }) =>
            targetUserIds.includes(userId) ||
            (useSchedule && turns.some((id) => scheduleIds.includes(id))) ||
            members?.teamId === team.id,
        )
        .map(({ afterMinutes, channels }) => ({
          policyId: policy.id,
          policyName: policy.name,
          afterMinutes,
          channels: [...channels],
        })),
    )
    .toSorted((a, b) => a.afterMinutes - b.afterMinutes);
}
