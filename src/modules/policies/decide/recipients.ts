import type { Id } from '#kernel/ids.ts';

import type { Channel } from '#modules/contacts/decide/channel.ts';
import { findAddress, type Contact, wantsChannel } from '#modules/contacts/decide/contact.ts';
import type { EscalationStep } from './escalation.ts';

type UserId = Id<'user'>;

/** First entry of the notification log for one person, channel and step. */
export type PageDecision =
  | { readonly kind: 'notify'; readonly userId: UserId; readonly channel: Channel; readonly to: string | null }
  | {
      readonly kind: 'failed';
      readonly userId: UserId;
      readonly channel: Channel;
      readonly reason: 'channel_not_configured';
    }
  | {
      readonly kind: 'skipped';
      readonly userId: UserId;
      readonly channel: Channel;
      readonly reason: 'left_organization' | 'channel_off' | 'no_address' | 'acknowledged';
    };

/** Reasons why a step reaches nobody. The one that people can fix most easily comes first. */
export type NobodyReached =
  | 'no_targets'
  | 'nobody_on_call'
  | 'channel_not_configured'
  | 'no_usable_channel'
  /** Reason that everybody has answered: the only reason that does not fire the next step. */
  | 'acknowledged';

export interface StepRecipients {
  /** Pages, each person once per channel: the targets in their order, then the people on call. */
  readonly pages: readonly PageDecision[];
  /** Reason why no page leaves, else null. With one, log the step as skipped for it and fire the next step at once. */
  readonly nobodyReached: NobodyReached | null;
  /**
   * People whose channels all failed before anything was sent, of a step that reaches others: nobody waits for them.
   */
  readonly unreachable: readonly UserId[];
}

/**
 * Decides whom a step pages, and how: the people it names and its audience (`audienceOf`). `contacts` has everyone who
 * is still in the organization (`contactOfNonMember` for those who are not in the team); `configured` the channels that
 * the operator has set up; `acknowledged` those who have answered for themselves and are not paged again.
 */
export function decideRecipients(
  step: EscalationStep,
  audience: readonly UserId[],
  contacts: ReadonlyMap<UserId, Contact>,
  configured: ReadonlySet<Channel>,
  acknowledged: ReadonlySet<UserId> = NOBODY,
): StepRecipients {
  const asks = step.useSchedule || step.members !== undefined;
  const userIds = new Set([...step.targetUserIds, ...(asks ? audience : [])]);
  const channels = new Set(step.channels);
  const pages: PageDecision[] = [];
  for (const userId of userIds) {
    for (const channel of channels) {
      pages.push(
        acknowledged.has(userId)
          ? { kind: 'skipped', userId, channel, reason: 'acknowledged' }
          : decidePage(userId, channel, contacts.get(userId), configured),
      );
    }
  }
  const nobodyReached = whyNobody(step, pages);
  return { pages, nobodyReached, unreachable: nobodyReached === null ? withoutChannelLeft(pages) : [] };
}

const NOBODY: ReadonlySet<UserId> = new Set();

/**
 * Returns whose turn it is among these, who come in turn: the first whom a channel of the step reaches, or the first at
 * all; null for nobody.
 */
export function chooseInTurn(
  memberIds: readonly UserId[],
  { channels }: Pick<EscalationStep, 'channels'>,
  contacts: ReadonlyMap<UserId, Contact>,
  configured: ReadonlySet<Channel>,
): UserId | null {
  const reached = memberIds.find((userId) =>
    channels.some((channel) => decidePage(userId, channel, contacts.get(userId), configured).kind === 'notify'),
  );
  return reached ?? memberIds[0] ?? null;
}

/** Whether the step after this one fires at once instead of at its time. */
export function expeditesNextStep({ nobodyReached, unreachable }: StepRecipients): boolean {
  return (nobodyReached !== null && nobodyReached !== 'acknowledged') || unreachable.length > 0;
}

/** Returns the first status of a page in the log. */
export function firstStatusOf({ kind }: PageDecision): 'queued' | 'failed' | 'skipped' {
  return kind === 'notify' ? 'queued' : kind;
}

function withoutChannelLeft(pages: readonly PageDecision[]): UserId[] {
  const byPerson = Map.groupBy(pages, ({ userId }) => userId);
  return [...byPerson].flatMap(([userId, pages]) => (hasNoChannelLeft(pages.map(firstStatusOf)) ? [userId] : []));
}

function decidePage(
  userId: UserId,
  channel: Channel,
  contact: Contact | undefined,
  configured: ReadonlySet<Channel>,
): PageDecision {
  if (!contact) return { kind: 'skipped', userId, channel, reason: 'left_organization' };
  if (!wantsChannel(contact, channel)) return { kind: 'skipped', userId, channel, reason: 'channel_off' };
  const address = findAddress(contact, channel);
  if (!address) return { kind: 'skipped', userId, channel, reason: 'no_address' };
  if (!configured.has(channel)) return { kind: 'failed', userId, channel, reason: 'channel_not_configured' };
  return { kind: 'notify', userId, channel, to: address.to };
}

function whyNobody(step: EscalationStep, pages: readonly PageDecision[]): NobodyReached | null {
  if (pages.some((page) => page.kind === 'notify')) return null;
  if (pages.some((page) => page.kind === 'skipped' && page.reason === 'acknowledged')) return 'acknowledged';
  if (pages.some((page) => page.kind === 'failed')) return 'channel_not_configured';
  if (pages.length > 0) return 'no_usable_channel';
  return step.useSchedule ? 'nobody_on_call' : 'no_targets';
}

export const NOTIFICATION_STATUSES = ['queued', 'sent', 'delivered', 'failed', 'skipped', 'cancelled'] as const;

export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/**
 * Whether the last channel of a person has failed, from all entries of that person and step: then the next step fires
 * at once. False if no channel was ever tried, or if any entry was cancelled or may still arrive.
 */
export function hasNoChannelLeft(statuses: readonly NotificationStatus[]): boolean {
  return statuses.includes('failed') && statuses.every((status) => status === 'failed' || status === 'skipped');
}
