import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';

/** Teams in one answer; a service seldom pages more than two. */
const TEAMS_MAX = 10;

export const getServiceOnCall = defineAction({
  name: 'get_service_on_call',
  consoleOnly: true,
  summary: `Tell who is on call now for a service: in the team that owns it, and in those that its rules and routes page, at most ${TEAMS_MAX}.`,
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({
    teams: Type.Array(
      Type.Object({
        teamId: IdText,
        name: Type.String(),
        isOwner: Type.Boolean(),
        policies: Type.Array(Type.Object({ policyId: IdText, name: Type.String() }), {
          description: 'by which the service pages',
        }),
        scheduleCount: Type.Integer({ minimum: 0 }),
        onCall: Type.Array(Type.Object({ userId: IdText, name: Type.String() }), { description: 'each person once' }),
      }),
      { description: 'the owner first' },
    ),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller: { orgId }, stores, now }) {
    const service = await stores.services.get(orgId, serviceId);
    const rules = await stores.alertRules.listOfService(orgId, service.id, LIST_LIMIT);
    const routes = await stores.alertRoutes.list(service.id);
    const policyIds = [
      ...rules.flatMap(({ enabled, escalationPolicyId }) => (enabled ? (escalationPolicyId ?? []) : [])),
      ...routes.flatMap(({ policyId }) => policyId ?? []),
    ];
    const policies = await stores.policies.listAll(orgId, [...new Set(policyIds)]);
    const policiesOf = Map.groupBy(policies, ({ teamId }) => teamId);
    const owner = service.teamId === null ? [] : [service.teamId];
    const teamIds = [...new Set([...owner, ...policiesOf.keys()])].slice(0, TEAMS_MAX);
    const teams = new Map((await stores.teams.findAll(orgId, teamIds)).map((team) => [team.id, team]));
    const onCallOf = await stores.onCall.ofTeams(orgId, teamIds, now);
    return {
      teams: teamIds.flatMap((teamId) => {
        const team = teams.get(teamId);
        if (team === undefined) return [];
        const { schedules, people } = onCallOf(teamId);
        return [
          {
            teamId,
            name: team.name,
            isOwner: teamId === service.teamId,
            policies: (policiesOf.get(teamId) ?? []).map(({ id, name }) => ({ policyId: id, name })),
            scheduleCount: schedules.length,
            onCall: peopleOnCall(schedules.map(({ onCall }) => onCall)).map((userId) => ({
              userId,
              name: people.get(userId)?.name ?? '',
            })),
          },
        ];
      }),
    };
  },
});
