import type { Steps } from '#kernel/cooperative_task.ts';
import type { Id } from '#kernel/ids.ts';
import { isAtOrBefore, Temporal } from '#kernel/time.ts';
import { audienceOf, schedulesOf as schedulesAskedBy } from '#modules/policies/decide/audience.ts';
import { type DoubleOnCall, doubleOnCallFinder } from '#modules/policies/decide/double_duty.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { decideRecipients, type NobodyReached } from '#modules/policies/decide/recipients.ts';
import type { IsPresent } from '#modules/schedules/decide/layer.ts';
import { type Gap, type LayeredSchedule, type OnCall, sortedGaps } from '#modules/schedules/decide/layered_shifts.ts';

import { type Channel, CHANNELS } from './channel.ts';
import { type Contact, findAddress, wantsChannel } from './contact.ts';

type Instant = Temporal.Instant;
type UserId = Id<'user'>;

/** Reasons why a page might reach nobody, shown to people before it happens. */
export type ReachabilityWarning =
  | {
      readonly kind: 'step_reaches_nobody';
      readonly policyId: Id<'policy'>;
      readonly stepIndex: number;
      readonly reason: NobodyReached;
    }
  /** The stored policy or schedule cannot be read. */
  | { readonly kind: 'policy_unreadable'; readonly policyId: Id<'policy'> }
  | { readonly kind: 'schedule_unreadable'; readonly scheduleId: Id<'schedule'> }
  | { readonly kind: 'schedule_gap'; readonly scheduleId: Id<'schedule'>; readonly gaps: readonly Gap[] }
  /** A schedule that puts people on call, and that no policy of its team asks. */
  | { readonly kind: 'schedule_pages_nobody'; readonly scheduleId: Id<'schedule'> }
  /** Somebody is on call for a step and, by another schedule, for an earlier one. */
  | ({ readonly kind: 'on_call_twice'; readonly policyId: Id<'policy'> } & DoubleOnCall)
  | ({ readonly kind: 'member_unreachable'; readonly memberId: Id<'member'> } & OnDuty)
  /** Somebody whom this team pages, in a role that may neither acknowledge nor resolve. */
  | ({ readonly kind: 'cannot_answer' } & OnDuty);

/** A person, with the schedules of the team that put them on call from now on. */
interface OnDuty {
  readonly userId: UserId;
  readonly scheduleIds: readonly Id<'schedule'>[];
}

interface TeamReach {
  readonly members: readonly { readonly id: Id<'member'>; readonly userId: UserId }[];
  readonly policies: readonly {
    readonly id: Id<'policy'>;
    readonly steps: readonly EscalationStep[];
    readonly isUnreadable?: true;
  }[];
  readonly schedules: readonly {
    readonly id: Id<'schedule'>;
    readonly layered: LayeredSchedule;
    readonly isUnreadable?: true | undefined;
  }[];
  readonly onCallNow: readonly { readonly id: Id<'schedule'>; readonly onCall: OnCall }[];
  /** Members of a team whose members a step pages. */
  readonly membersOf: (teamId: Id<'team'>) => readonly UserId[];
  /** Contacts of everybody in the organization whom the team could page. */
  readonly contacts: ReadonlyMap<UserId, Contact>;
  readonly isPresent: IsPresent;
  /** Whether the role of somebody in the organization lets them acknowledge. */
  readonly mayAnswer: (userId: UserId) => boolean;
}

const DAYS_AHEAD = 30;
/** Days ahead in which nobody should be on call twice in one policy. */
export const DOUBLE_DUTY_DAYS = 28;
/** Limit on the gaps of a schedule: those of 30 days with a gap each hour. */
const GAPS_MAX = 24 * DAYS_AHEAD;

/**
 * Finds policies and schedules that cannot be read, steps that would reach nobody if they fired now, gaps in the next
 * 30 days, schedules that no policy asks, people who are on call twice in a policy in the next four weeks, members whom no
 * channel reaches, and people who are paged but may not answer.
 */
export function* findWarnings(
  team: TeamReach,
  configured: ReadonlySet<Channel>,
  now: Instant,
): Steps<ReachabilityWarning[]> {
  const to = now.add({ hours: DAYS_AHEAD * 24 });
  const warnings: ReachabilityWarning[] = team.policies.flatMap(({ id: policyId, isUnreadable }) =>
    isUnreadable ? [{ kind: 'policy_unreadable', policyId } as const] : [],
  );
  const readable = team.schedules.filter(({ isUnreadable }) => isUnreadable === undefined);
  const findDoubleDuty = doubleOnCallFinder(readable, {
    from: now,
    to: now.add({ hours: DOUBLE_DUTY_DAYS * 24 }),
    isPresent: team.isPresent,
  });
  for (const { id: policyId, steps } of team.policies) {
    for (const twice of findDoubleDuty(steps)) warnings.push({ kind: 'on_call_twice', policyId, ...twice });
    for (const [stepIndex, step] of steps.entries()) {
      // Warnings of the policy that it goes to say whom that one reaches.
      if (step.policyId !== undefined) continue;
      const memberIds = step.members === undefined ? [] : team.membersOf(step.members.teamId);
      const audience = audienceOf(step, { schedules: team.onCallNow, memberIds });
      const { nobodyReached: reason } = decideRecipients(step, audience, team.contacts, configured);
      if (reason !== null) warnings.push({ kind: 'step_reaches_nobody', policyId, stepIndex, reason });
    }
    yield;
  }
  for (const { id: scheduleId, layered, isUnreadable } of team.schedules) {
    const gaps = isUnreadable ? [] : sortedGaps(layered, now, to, team.isPresent, GAPS_MAX).unplanned;
    if (isUnreadable) warnings.push({ kind: 'schedule_unreadable', scheduleId });
    else if (gaps.length > 0) warnings.push({ kind: 'schedule_gap', scheduleId, gaps });
    yield;
  }
  const schedulesOf = schedulesByPerson(team.schedules, now);
  const manned = new Set([...schedulesOf].flatMap(([userId, ids]) => (team.isPresent(userId) ? ids : [])));
  const asked = new Set(
    team.policies.flatMap(({ steps }) =>
      steps.flatMap((step) => schedulesAskedBy(step, team.schedules).map(({ id }) => id)),
    ),
  );
  for (const { id: scheduleId } of readable) {
    if (manned.has(scheduleId) && !asked.has(scheduleId)) warnings.push({ kind: 'schedule_pages_nobody', scheduleId });
  }
  for (const { id: memberId, userId } of team.members) {
    const contact = team.contacts.get(userId);
    if (contact && isReachable(contact, configured)) continue;
    warnings.push({ kind: 'member_unreachable', memberId, userId, scheduleIds: schedulesOf.get(userId) ?? [] });
  }
  for (const userId of new Set([...peopleNamed(team), ...schedulesOf.keys()])) {
    if (!team.contacts.has(userId) || team.mayAnswer(userId)) continue;
    warnings.push({ kind: 'cannot_answer', userId, scheduleIds: schedulesOf.get(userId) ?? [] });
  }
  return warnings;
}

/** Returns everybody whom a step names, by themselves or as a member of a team. */
function peopleNamed({ policies, membersOf }: Pick<TeamReach, 'policies' | 'membersOf'>): readonly UserId[] {
  return policies.flatMap(({ steps }) =>
    steps.flatMap(({ targetUserIds, members }) => [
      ...targetUserIds,
      ...(members === undefined ? [] : membersOf(members.teamId)),
    ]),
  );
}

/** Returns the schedules that put people on call from now on, by person. */
function schedulesByPerson(
  schedules: TeamReach['schedules'],
  now: Instant,
): ReadonlyMap<UserId, readonly Id<'schedule'>[]> {
  const byPerson = new Map<UserId, Id<'schedule'>[]>();
  for (const { id, layered } of schedules) {
    const { layers, overrides } = layered;
    const people = new Set([
      ...layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds)),
      ...overrides.filter(({ endAt }) => !isAtOrBefore(endAt, now)).map(({ userId }) => userId),
    ]);
    for (const userId of people) byPerson.set(userId, [...(byPerson.get(userId) ?? []), id]);
  }
  return byPerson;
}

/** Whether a warning about a team is one about pages by this policy; `membersOf` knows the teams that its steps name. */
export function isAboutPolicy(
  warning: Pick<ReachabilityWarning, 'kind'> & {
    readonly policyId?: string;
    readonly scheduleId?: string;
    readonly scheduleIds?: readonly string[];
    readonly userId?: string;
  },
  { id, steps }: { readonly id: string; readonly steps: readonly EscalationStep[] },
  membersOf: (teamId: Id<'team'>) => readonly string[],
): boolean {
  switch (warning.kind) {
    case 'step_reaches_nobody':
    case 'policy_unreadable':
    case 'on_call_twice':
      return warning.policyId === id;
    case 'schedule_pages_nobody':
      return false;
    case 'schedule_unreadable':
    case 'schedule_gap':
      return steps.some((step) => asksAny(step, [warning.scheduleId ?? '']));
    case 'member_unreachable':
    case 'cannot_answer':
      return steps.some((step) => {
        const { targetUserIds, members } = step;
        const named: readonly string[] = [
          ...targetUserIds,
          ...(members === undefined ? [] : membersOf(members.teamId)),
        ];
        return named.includes(warning.userId ?? '') || asksAny(step, warning.scheduleIds ?? []);
      });
  }
}

/** Whether the step asks any of these schedules of its team who is on call. */
function asksAny({ useSchedule, scheduleIds }: EscalationStep, asked: readonly string[]): boolean {
  return useSchedule && asked.some((id) => scheduleIds?.some((scheduleId) => scheduleId === id) ?? true);
}

/** Whether any channel that the person wants and the operator has set up has an address. */
export function isReachable(contact: Contact, configured: ReadonlySet<Channel>): boolean {
  return CHANNELS.some(
    (channel) => wantsChannel(contact, channel) && findAddress(contact, channel) !== null && configured.has(channel),
  );
}

/** Whether a channel takes messages: `unused` when it has not been tried lately; `simulated` when they reach nobody. */
export const CHANNEL_STATES = ['not_configured', 'simulated', 'unused', 'works', 'failing'] as const;

type ChannelState = (typeof CHANNEL_STATES)[number];

/** History of a channel, from the messages that went through it. */
export interface ChannelHistory {
  /** Time when the provider last accepted a message; null for never. Whether a person answered it does not matter. */
  readonly lastSucceededAt: Temporal.Instant | null;
  /** Time when the provider last refused a message or did not answer; null for never. */
  readonly lastFailedAt: Temporal.Instant | null;
}

/** Returns the state of a channel. It fails from a rejection or silence of its provider until a message is accepted. */
export function channelStateOf(
  { isConfigured, isSimulated }: { readonly isConfigured: boolean; readonly isSimulated: boolean },
  history: ChannelHistory | undefined,
): ChannelState {
  if (!isConfigured) return 'not_configured';
  if (isSimulated) return 'simulated';
  const { lastSucceededAt = null, lastFailedAt = null } = history ?? {};
  if (lastFailedAt === null) return lastSucceededAt === null ? 'unused' : 'works';
  const hasRecovered = lastSucceededAt !== null && Temporal.Instant.compare(lastSucceededAt, lastFailedAt) > 0;
  return hasRecovered ? 'works' : 'failing';
}
