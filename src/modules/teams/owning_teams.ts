import { Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import type { Id } from '#kernel/ids.ts';

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
