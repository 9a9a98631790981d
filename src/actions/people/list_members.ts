import { type Static, Type } from 'typebox';

import { RoleName } from '#actions/account/view.ts';
import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED, IdText, Timestamp } from '#actions/fields.ts';
import { contactsOf } from '#core/oncall/contact.ts';
import { isReachable } from '#core/oncall/reachability.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { MemberOfOrganization } from '#storage/postgres/people_store.ts';
import type { TeamMemberOfTeam } from '#storage/postgres/team_store.ts';

const OrganizationMemberView = Type.Object({
  userId: IdText,
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  joinedAt: Timestamp,
  teams: Type.Array(Type.Object({ teamId: IdText, name: Type.String() })),
  warnings: Type.Array(Type.String(), { description: 'why pages might not reach the person; none when all is well' }),
});

const TEAM_MEMBERS_MAX = 10_000;

export const listMembers = defineAction({
  name: 'list_members',
  consoleOnly: true,
  summary: 'List the members of the organization by name, with their teams and what may keep pages from them.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ members: Type.Array(OrganizationMemberView) }),
  example: {},
  async handle(_input, { caller, stores, configuredChannels }) {
    const people = await stores.people.listMembers(caller.orgId, LIST_LIMIT);
    const places = await stores.teams.listMembersOfAll(caller.orgId, TEAM_MEMBERS_MAX);
    const subscribers = await stores.pushSubscriptions.listSubscribers(people.map(({ userId }) => userId));
    const isUnreached = (place: TeamMemberOfTeam): boolean => {
      const contact = contactsOf([place], subscribers, [place]).get(place.userId);
      return contact === undefined || !isReachable(contact, configuredChannels);
    };
    const placesOf = Map.groupBy(places, ({ userId }) => userId);
    const withoutTeam = people.filter(({ userId }) => !placesOf.has(userId)).map(({ userId }) => userId);
    const reachable = [...(await stores.people.listReachable(caller.orgId, withoutTeam)).values()];
    const ownContacts = contactsOf(reachable, subscribers, []);
    const isReachedByOwn = (userId: Id<'user'>): boolean => {
      const contact = ownContacts.get(userId);
      return contact === undefined || isReachable(contact, configuredChannels);
    };
    return {
      members: people.map((person) => {
        const own = placesOf.get(person.userId) ?? [];
        const warnings = own.filter(isUnreached).map(({ teamName }) => unreached(`${person.name} in ${teamName}`));
        if (!isReachedByOwn(person.userId)) warnings.push(unreached(person.name));
        return toView(person, own, warnings);
      }),
    };
  },
});

function toView(
  { userId, name, email, role, joinedAt }: MemberOfOrganization,
  places: readonly TeamMemberOfTeam[],
  warnings: string[],
): Static<typeof OrganizationMemberView> {
  return {
    userId,
    name,
    email,
    role,
    joinedAt: toTimestamp(joinedAt),
    teams: places.map(({ teamId, teamName }) => ({ teamId, name: teamName })),
    warnings,
  };
}

function unreached(whom: string): string {
  return `Nothing reaches ${whom}: each channel is off, lacks an address, or is not set up.`;
}
