import { type Static, Type } from 'typebox';

import { RoleName } from '#modules/accounts/view.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { IdText, nullable, STRICT, Timestamp } from '#actions/fields.ts';
import { idsInput, nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { contactsOf } from '#modules/contacts/decide/contact.ts';
import { isReachable } from '#modules/contacts/decide/reachability.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { MemberOfOrganization } from '#modules/accounts/store/people_store.ts';
import type { TeamMemberOfTeam } from '#modules/teams/store.ts';

const OrganizationMemberView = Type.Object({
  userId: IdText,
  name: Type.String(),
  email: Type.String(),
  role: RoleName,
  joinedAt: Timestamp,
  hasSecondFactor: nullable(
    Type.Boolean({ description: 'beside the password; null for those who do not manage the organization' }),
  ),
  teams: Type.Array(Type.Object({ teamId: IdText, name: Type.String() })),
  warnings: Type.Array(Type.String(), { description: 'why pages might not reach the person; none when all is well' }),
});

const LIMIT = 50;
const LIMIT_MAX = 200;

export const listMembers = defineAction({
  name: 'list_members',
  consoleOnly: true,
  summary:
    'Find the members of the organization page by page, by name, with their teams and what may keep pages from them.',
  permission: 'organization:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name or of the mail address'),
      role: Type.Optional(RoleName),
      userIds: idsInput(LIMIT_MAX),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({
    members: Type.Array(OrganizationMemberView),
    total: Type.Integer({ description: 'how many match' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'ann',
    role: 'responder',
    userIds: ['user_01k9z7c9d0e1f2g3h4j5k6m7np'],
    cursor: nameCursorOf({ name: 'Anna', id: EXAMPLE_IDS.userId }),
    limit: 20,
  },
  async handle({ text, role, userIds, cursor, limit = LIMIT }, { caller, stores, configuredChannels }) {
    const wanted = { text: text?.trim(), role, userIds };
    const page = await stores.people.search(caller.orgId, wanted, {
      after: cursor === undefined ? null : parseNameCursor('user', cursor),
      limit: limit + 1,
    });
    const { shown: people, nextCursor } = pageOf(page, limit, (last) =>
      nameCursorOf({ name: last.name, id: last.userId }),
    );
    const ids = people.map(({ userId }) => userId);
    const isManager = caller.permissions.has('organization:manage');
    const holders = isManager ? await stores.secondFactors.listHolders(ids) : null;
    const places = await stores.teams.listPlacesOfAll(caller.orgId, ids);
    const subscribers = await stores.pushSubscriptions.listSubscribers(ids);
    const isUnreached = (place: TeamMemberOfTeam): boolean => {
      const contact = contactsOf([place], subscribers, [place]).get(place.userId);
      return contact === undefined || !isReachable(contact, configuredChannels);
    };
    const placesOf = Map.groupBy(places, ({ userId }) => userId);
    const withoutTeam = ids.filter((userId) => !placesOf.has(userId));
    const reachable = [...(await stores.people.listReachable(caller.orgId, withoutTeam)).values()];
    const ownContacts = contactsOf(reachable, subscribers, []);
    const isReachedByOwn = (userId: Id<'user'>): boolean => {
      const contact = ownContacts.get(userId);
      return contact === undefined || isReachable(contact, configuredChannels);
    };
    return {
      members: people.map((person) => {
        const places = placesOf.get(person.userId) ?? [];
        const warnings = places.filter(isUnreached).map(({ teamName }) => unreached(`${person.name} in ${teamName}`));
        if (!isReachedByOwn(person.userId)) warnings.push(unreached(person.name));
        return toView(person, places, holders?.has(person.userId) ?? null, warnings);
      }),
      total: await stores.people.count(caller.orgId, wanted),
      nextCursor,
    };
  },
});

function toView(
  { userId, name, email, role, joinedAt }: MemberOfOrganization,
  places: readonly TeamMemberOfTeam[],
  hasSecondFactor: boolean | null,
  warnings: string[],
): Static<typeof OrganizationMemberView> {
  return {
    userId,
    name,
    email,
    role,
    joinedAt: toTimestamp(joinedAt),
    hasSecondFactor,
    teams: places.map(({ teamId, teamName }) => ({ teamId, name: teamName })),
    warnings,
  };
}

function unreached(whom: string): string {
  return `Nothing reaches ${whom}: each channel is off, lacks an address, or is not set up.`;
}
