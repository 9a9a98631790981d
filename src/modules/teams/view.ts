import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import {
  EXAMPLE_IDS as IDS,
  EXAMPLE_PEOPLE,
  EXAMPLE_STAMPS,
  IdText,
  nullable,
  SafeInteger,
  Timestamp,
} from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import type { Id } from '#kernel/ids.ts';
import { mayAnswer } from '#kernel/permissions.ts';
import { keysOf, recordOf } from '#kernel/records.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { Person } from '#modules/accounts/store/people_store.ts';
import { callerUser, PersonColorNumber } from '#modules/accounts/view.ts';
import { CHANNEL_PREFERENCES } from '#modules/contacts/decide/channel.ts';
import { contactsOf, type Preferences } from '#modules/contacts/decide/contact.ts';
import { E164_PATTERN } from '#modules/contacts/decide/e164.ts';
import { maskPhone } from '#modules/contacts/decide/masking.ts';
import { judgeReadiness } from '#modules/contacts/decide/readiness.ts';
import { CHANNEL_READINESS, READINESS_ANSWERS, READINESS_REASONS } from '#modules/contacts/decide/readiness_words.ts';
import { ChannelName, PolicyView, toPolicyView } from '#modules/policies/view.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import { ScheduleView, toScheduleView } from '#modules/schedules/view.ts';
import type { TeamMemberRow, TeamMemberWithPerson, TeamRow } from './store.ts';
import { type TeamParts, WarningView } from './warnings.ts';

export const Phone = Type.String({
  pattern: E164_PATTERN,
  description: 'a phone number in E.164 form, such as +31612345678',
});

/** The channels that a member wants to be reached through. */
export const CHANNEL_SWITCHES = recordOf(CHANNEL_PREFERENCES, () => Type.Optional(Type.Boolean()));

export const CHANNEL_SWITCHES_VIEW = recordOf(CHANNEL_PREFERENCES, () => Type.Boolean());

/** Fields of a contact as its editor has read them. */
export const ContactRead = StrictObject(
  { phone: nullable(Type.String({ maxLength: 40 })), ...CHANNEL_SWITCHES_VIEW },
  { description: 'what was read: what somebody else has changed since is a conflict' },
);

export const TEAM_FIELDS = { teamId: IdText, name: Type.String(), createdAt: Timestamp, updatedAt: Timestamp };

export const TeamView = Type.Object(TEAM_FIELDS);

export const MemberView = Type.Object({
  memberId: IdText,
  teamId: IdText,
  userId: IdText,
  name: Type.String({ description: 'of the user' }),
  email: Type.String({ description: 'of the user' }),
  phone: nullable(Type.String({ description: 'E.164; masked for callers who may not edit on-call' })),
  phoneConfirmed: Type.Boolean({ description: 'whether the person has confirmed that the number is theirs' }),
  ...CHANNEL_SWITCHES_VIEW,
  sortOrder: SafeInteger,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const TEAM_EXAMPLE: Static<typeof TeamView> = { teamId: IDS.teamId, name: 'Payments', ...EXAMPLE_STAMPS };

export const MEMBER_EXAMPLE: Static<typeof MemberView> = {
  memberId: IDS.memberId,
  teamId: IDS.teamId,
  ...EXAMPLE_PEOPLE.anna,
  phone: '+31612345678',
  phoneConfirmed: true,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: false,
  sortOrder: 0,
  ...EXAMPLE_STAMPS,
};

export function toTeamView(team: TeamRow): Static<typeof TeamView> {
  return {
    teamId: team.id,
    name: team.name,
    createdAt: toTimestamp(team.createdAt),
    updatedAt: toTimestamp(team.updatedAt),
  };
}

export function toMemberView(member: TeamMemberWithPerson): Static<typeof MemberView> {
  const { memberId, teamId, userId, phone, ...contact } = fieldsOf(member);
  const { name, email, phoneConfirmed } = member;
  return { memberId, teamId, userId, name, email, phone, phoneConfirmed, ...contact };
}

/** Reads the member with the person's name and address of the account. */
export async function readMember(
  member: TeamMemberRow,
  { stores }: Pick<ActionContext, 'stores'>,
): Promise<Static<typeof MemberView>> {
  const person = (await stores.people.listPeople(member.orgId, [member.userId])).get(member.userId);
  if (person === undefined) throw new Error(`team member ${member.id} is not a member of the organization`);
  const phoneConfirmed = member.phone !== null && (await stores.phoneNumbers.isConfirmed(member.userId, member.phone));
  return toMemberView({ ...member, ...person, phoneConfirmed });
}

/** Returns a member as the audit log keeps it: whose it is by id only, and the phone number masked. */
export function toMemberRecord(member: TeamMemberRow): object {
  return { ...fieldsOf(member), phone: member.phone && maskPhone(member.phone) };
}

function fieldsOf(member: TeamMemberRow) {
  return {
    memberId: member.id,
    teamId: member.teamId,
    userId: member.userId,
    phone: member.phone,
    ...recordOf(CHANNEL_PREFERENCES, (preference) => member[preference]),
    sortOrder: member.sortOrder,
    createdAt: toTimestamp(member.createdAt),
    updatedAt: toTimestamp(member.updatedAt),
  };
}

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

export const ReadinessView = Type.Object({
  answer: Type.Enum([...READINESS_ANSWERS], { description: 'whether a page at night would wake the person' }),
  reasons: Type.Array(Type.Enum(keysOf(READINESS_REASONS)), { description: 'what keeps it from a plain yes' }),
  channels: Type.Array(
    Type.Object({ channel: ChannelName, state: Type.Enum([...CHANNEL_READINESS]), provedAt: nullable(Timestamp) }),
    { description: 'provedAt: when a test or page last arrived at the present address' },
  ),
  deviceCount: Type.Integer({ description: 'browsers subscribed to push' }),
});

type Readiness = Static<typeof ReadinessView>;

/** Settings by which a team reaches one of its members. */
type TeamSettings = Preferences & { readonly userId: Id<'user'> };

/**
 * Reads the readiness of any of these people: for members by the settings of their team, else by what they have said
 * for other teams. In five queries for all of them.
 */
export async function readReadiness(
  people: readonly Pick<Person, 'userId' | 'email'>[],
  {
    caller,
    stores,
    configuredChannels,
    installation,
    now,
  }: Pick<ActionContext, 'caller' | 'stores' | 'configuredChannels' | 'installation' | 'now'>,
): Promise<(person: Pick<Person, 'userId' | 'email'>, member: TeamSettings | null) => Readiness> {
  const userIds = people.map(({ userId }) => userId);
  const [devices, arrived, reachable, confirmed, stopped] = await Promise.all([
    stores.readiness.listDevices(caller.orgId, userIds),
    stores.readiness.listArrivals(caller.orgId, userIds, installation.simulatedIds),
    stores.people.listReachable(caller.orgId, userIds),
    stores.phoneNumbers.listConfirmedOf(userIds),
    stores.phoneNumbers.listStoppedOf(caller.orgId, userIds),
  ]);
  const arrivals = Map.groupBy(arrived, ({ userId }) => userId);
  const subscribers = new Set(devices.keys());
  return (person, member) => {
    const { userId, email } = person;
    const reachableBy = reachable.get(userId);
    const account = { userId, email, ...(reachableBy !== undefined && { own: reachableBy.own }) };
    const contact = contactsOf([account], subscribers, member === null ? [] : [member]).get(userId);
    if (contact === undefined) throw new Error(`no contact was made for ${userId}`);
    const ownDevices = devices.get(userId);
    const reach = {
      contact,
      isPhoneConfirmed: contact.phone !== null && (confirmed.get(userId)?.has(contact.phone) ?? false),
      mayAnswer: reachableBy === undefined || mayAnswer(reachableBy.role),
      hasStoppedSms: contact.phone !== null && stopped.has(contact.phone),
      arrivals: arrivals.get(userId) ?? [],
      devicesSince: ownDevices?.since ?? null,
    };
    const { answer, reasons, channels } = judgeReadiness(
      reach,
      { configured: configuredChannels, simulated: installation.simulatedChannels },
      now,
    );
    return {
      answer,
      reasons: [...reasons],
      channels: channels.map((channel) => ({ ...channel, provedAt: toTimestampOrNull(channel.provedAt) })),
      deviceCount: ownDevices?.count ?? 0,
    };
  };
}

/** Returns a number in full for its owner and those who may change it; others see the country and the last digits. */
export function shownPhone(phone: string | null, userId: Id<'user'>, { permissions, actor }: ActionContext['caller']) {
  const isOwn = actor.kind === 'user' && actor.userId === userId;
  return phone === null || isOwn || permissions.has('oncall:edit') ? phone : maskPhone(phone);
}
