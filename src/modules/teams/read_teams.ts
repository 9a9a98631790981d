import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { callerUser, PersonColorNumber } from '#modules/accounts/view.ts';
import { PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import { ScheduleView, toScheduleView } from '#modules/schedules/view.ts';
import { shownPhone } from '#modules/teams/readiness_view.ts';
import type { TeamRow } from '#modules/teams/store.ts';
import { MemberView, TEAM_FIELDS, toMemberView, toTeamView } from '#modules/teams/view.ts';
import { type TeamParts, WarningView } from '#modules/teams/warnings.ts';

export const WholeTeamView = Type.Object({
  ...TEAM_FIELDS,
  members: Type.Array(MemberView, { description: 'in their order' }),
  schedules: Type.Array(ScheduleView, { description: 'oldest first' }),
  escalationPolicies: Type.Array(PolicyView, { description: 'oldest first' }),
  warnings: Type.Array(WarningView, { description: 'none when every page would reach somebody' }),
});

export type WholeTeam = TeamParts & { readonly team: TeamRow };

/** Reads teams in a few queries, however many there are. */
export async function readTeams(
  teams: readonly TeamRow[],
  { caller, stores, now }: Pick<ActionContext, 'caller' | 'stores' | 'now'>,
): Promise<WholeTeam[]> {
  const teamIds = teams.map(({ id }) => id);
  const byTeam = <Row extends { readonly teamId: string }>(rows: readonly Row[]) =>
    Map.groupBy(rows, ({ teamId }) => teamId);
  const [members, policies, onCallOf] = await Promise.all([
    stores.teams.listMembers(caller.orgId, teamIds).then(byTeam),
    stores.policies.listOfTeams(caller.orgId, teamIds).then(byTeam),
    stores.onCall.ofTeams(caller.orgId, teamIds, now),
  ]);
  return teams.map((team) => {
    const { id } = team;
    return { team, members: members.get(id) ?? [], policies: policies.get(id) ?? [], onCall: onCallOf(id) };
  });
}

export function toWholeTeamView(
  { team, members, policies, onCall }: WholeTeam,
  warnings: Static<typeof WarningView>[],
  { caller }: Pick<ActionContext, 'caller'>,
): Static<typeof WholeTeamView> {
  return {
    ...toTeamView(team),
    members: members.map((member) => ({
      ...toMemberView(member),
      phone: shownPhone(member.phone, member.userId, caller),
    })),
    schedules: onCall.schedules.map(({ schedule }) => toScheduleView(schedule)),
    escalationPolicies: policies.map(toPolicyView),
    warnings,
  };
}

export const PersonOnCallView = Type.Object({ userId: IdText, name: Type.String(), color: PersonColorNumber });

/** Limit on the people on call that one row of a list names. */
const ON_CALL_SHOWN_MAX = 20;

/** Returns the people on call now, over all schedules of the team. */
export function onCallNow({ onCall }: Pick<WholeTeam, 'onCall'>): Static<typeof PersonOnCallView>[] {
  return peopleOnCall(onCall.schedules.map((schedule) => schedule.onCall))
    .slice(0, ON_CALL_SHOWN_MAX)
    .flatMap((userId) => {
      const person = onCall.people.get(userId);
      return person === undefined ? [] : [{ userId, name: person.name, color: person.color }];
    });
}

/** Filter of lists by the team that owns the service. */
export const OWNED_BY = Type.Optional(
  Type.String({
    maxLength: 100,
    description: 'my_teams, or the id of a team: only what belongs to the services that they own',
  }),
);

/** Returns the teams that a filter names; undefined where it names none. Throws `not_found` for an unknown id. */
export async function readOwningTeams(
  ownedBy: string | undefined,
  { caller, stores }: Pick<ActionContext, 'caller' | 'stores'>,
): Promise<readonly Id<'team'>[] | undefined> {
  if (ownedBy === undefined) return undefined;
  if (ownedBy !== 'my_teams') return [(await stores.teams.get(caller.orgId, ownedBy, 'ownedBy')).id];
  const places = await stores.teams.listPlacesOf(caller.orgId, callerUser(caller));
  return places.map(({ teamId }) => teamId);
}
