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
      readonly reason: 'left_organization' | 'channel_off' | 'no_address';
    };

/** Reasons why a step reaches nobody. The one that people can fix most easily comes first. */
export type NobodyReached = 'no_targets' | 'nobody_on_call' | 'channel_not_configured' | 'no_usable_channel';

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
 * Decides whom a step pages, and how. `contacts` has everyone who is still in the organization (`contactOfNonMember`
 * for those who are not in the team); `configured` the channels that the operator has set up.
 */
export function decideRecipients(
  step: EscalationStep,
  onCallUserIds: readonly UserId[],
  contacts: ReadonlyMap<UserId, Contact>,
  configured: ReadonlySet<Channel>,
): StepRecipients {
  const userIds = new Set([...step.targetUserIds, ...(step.useSchedule ? onCallUserIds : [])]);
  const channels = new Set(step.channels);
  const pages: PageDecision[] = [];
  for (const userId of userIds) {
    for (const channel of channels) pages.push(decidePage(userId, channel, contacts.get(userId), configured));
  }
  const nobodyReached = whyNobody(step, pages);
  return { pages, nobodyReached, unreachable: nobodyReached === null ? withoutChannelLeft(pages) : [] };
}

/** Whether the step after this one fires at once instead of at its time. */
export function expeditesNextStep({ nobodyReached, unreachable }: StepRecipients): boolean {
  return nobodyReached !== null || unreachable.length > 0;
}

/** Returns the first status of a page in the log. */
export function firstStatusOf({ kind }: PageDecision): 'queued' | 'failed' | 'skipped' {
  return kind === 'notify' ? 'queued' : kind;
}

function withoutChannelLeft(pages: readonly PageDecision[]): UserId[] {
  const byPerson = Map.groupBy(pages, ({ userId }) => userId);
  return [...byPerson].flatMap(([userId, own]) => (hasNoChannelLeft(own.map(firstStatusOf)) ? [userId] : []));
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
