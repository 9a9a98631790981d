import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { type Channel, CHANNELS, declarationOf } from './channel.ts';
import { type Contact, findAddress, wantsChannel } from './contact.ts';
import type { ChannelReadiness, ReadinessAnswer, ReadinessReason } from './readiness_words.ts';

type Instant = Temporal.Instant;

/** The last test or page on a channel that arrived, or that a provider without reports accepted. */
export interface Arrival {
  readonly channel: Channel;
  /** Address of the message; null for push. */
  readonly address: string | null;
  readonly at: Instant;
}

/** Facts about how somebody can be reached. */
export interface Reach {
  readonly contact: Contact;
  readonly isPhoneConfirmed: boolean;
  /** Whether the person has stopped SMS to the present number. */
  readonly hasStoppedSms: boolean;
  /** Whether the person's role lets them acknowledge. */
  readonly mayAnswer: boolean;
  /** Last arrival at each address by each channel. */
  readonly arrivals: readonly Arrival[];
  /** Time since which the person's oldest device has been subscribed to push; null without one. */
  readonly devicesSince: Instant | null;
}

export interface OfferedChannels {
  readonly configured: ReadonlySet<Channel>;
  /** Channels whose messages go to the phone simulator. */
  readonly simulated: ReadonlySet<Channel>;
}

interface ReadinessOfChannel {
  readonly channel: Channel;
  readonly state: ChannelReadiness;
  /** Time when a message last arrived at the present address; null for never. */
  readonly provedAt: Instant | null;
}

export interface Readiness {
  readonly answer: ReadinessAnswer;
  readonly reasons: readonly ReadinessReason[];
  readonly channels: readonly ReadinessOfChannel[];
}

const PROOF_DAYS = 90;

/** Whether pages would wake a person now: by which channels, and what shows that they work. */
export function judgeReadiness(reach: Reach, offered: OfferedChannels, now: Instant): Readiness {
  const channels = CHANNELS.map((channel) => ({
    channel,
    state: stateOf(reach, channel, offered),
    provedAt: findProof(reach, channel),
  }));
  const isAny = (wanted: ChannelReadiness): boolean => channels.some(({ state }) => state === wanted);
  const faults: ReadinessReason[] = [
    ...(reach.mayAnswer ? [] : ['cannot_answer' as const]),
    ...(isAny('stopped') ? ['sms_stopped' as const] : []),
  ];
  const waking = channels.filter(({ channel, state }) => state === 'ready' && declarationOf(channel).wakes);
  if (waking.length === 0 && isAny('simulated')) {
    return { answer: 'unproved', reasons: ['simulated', ...faults], channels };
  }
  if (waking.length === 0) return { answer: 'no', reasons: ['no_waking_channel', ...faults], channels };
  const oldest = now.subtract({ hours: PROOF_DAYS * 24 });
  const proofs = waking.flatMap(({ provedAt }) => provedAt ?? []);
  const isProved = proofs.some((at) => isAtOrBefore(oldest, at));
  const usesPhone = waking.some(({ channel }) => declarationOf(channel).addressKind === 'phone');
  const reasons = faults;
  if (!isProved) reasons.push(proofs.length === 0 ? 'never_proved' : 'proof_too_old');
  if (usesPhone && !reach.isPhoneConfirmed) reasons.push('number_not_confirmed');
  return { answer: isProved && reach.mayAnswer ? 'yes' : 'unproved', reasons, channels };
}

function stateOf(
  { contact, hasStoppedSms }: Reach,
  channel: Channel,
  { configured, simulated }: OfferedChannels,
): ChannelReadiness {
  if (!wantsChannel(contact, channel)) return 'off';
  if (findAddress(contact, channel) === null) return 'no_address';
  if (channel === 'sms' && hasStoppedSms) return 'stopped';
  if (!configured.has(channel)) return 'not_configured';
  return simulated.has(channel) ? 'simulated' : 'ready';
}

/**
 * Returns when a message last proved that the channel works. One that went to another number, or to no device that is
 * still there, proves nothing.
 */
function findProof({ contact, arrivals, devicesSince }: Reach, channel: Channel): Instant | null {
  const address = findAddress(contact, channel);
  if (address === null) return null;
  const arrival = arrivals.find((candidate) => candidate.channel === channel && candidate.address === address.to);
  if (arrival === undefined) return null;
  const isBrowser = declarationOf(channel).addressKind === 'browser';
  const hasDevice = devicesSince !== null && isAtOrBefore(devicesSince, arrival.at);
  return isBrowser && !hasDevice ? null : arrival.at;
}
