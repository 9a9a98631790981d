import { isAtOrBefore, type Temporal } from '#kernel/time.ts';

import { type Channel, CHANNELS, declarationOf } from './channel.ts';
import { type Contact, findAddress, wantsChannel } from './contact.ts';
import type { ChannelReadiness, ReadinessAnswer, ReadinessReason } from './readiness_words.ts';

type Instant = Temporal.Instant;

/** The last test or page on a channel that arrived, or that a provider without reports accepted. */
export interface Arrival {
  readonly channel: Channel;
  /** Where it went; null for push. */
  readonly address: string | null;
  readonly at: Instant;
}

/** What is known of how somebody can be reached. */
export interface Reach {
  readonly contact: Contact;
  readonly isPhoneConfirmed: boolean;
  /** The last one of each channel. */
  readonly arrivals: readonly Arrival[];
  /** Since when the oldest device of theirs has been subscribed to push; null without one. */
  readonly devicesSince: Instant | null;
}

interface ReadinessOfChannel {
  readonly channel: Channel;
  readonly state: ChannelReadiness;
  /** When a message last arrived at the present address. */
  readonly provedAt: Instant | null;
}

export interface Readiness {
  readonly answer: ReadinessAnswer;
  readonly reasons: readonly ReadinessReason[];
  readonly channels: readonly ReadinessOfChannel[];
}

const PROOF_DAYS = 90;

/** Whether pages would wake a person now: by which channels, and what shows that they work. */
export function judgeReadiness(reach: Reach, configured: ReadonlySet<Channel>, now: Instant): Readiness {
  const channels = CHANNELS.map((channel) => ({
    channel,
    state: stateOf(reach.contact, channel, configured),
    provedAt: findProof(reach, channel),
  }));
  const waking = channels.filter(({ channel, state }) => state === 'ready' && declarationOf(channel).wakes);
  if (waking.length === 0) return { answer: 'no', reasons: ['no_waking_channel'], channels };
  const oldest = now.subtract({ hours: PROOF_DAYS * 24 });
  const proofs = waking.flatMap(({ provedAt }) => provedAt ?? []);
  const isProved = proofs.some((at) => isAtOrBefore(oldest, at));
  const usesPhone = waking.some(({ channel }) => declarationOf(channel).addressKind === 'phone');
  const reasons: ReadinessReason[] = [];
  if (!isProved) reasons.push(proofs.length === 0 ? 'never_proved' : 'proof_too_old');
  if (usesPhone && !reach.isPhoneConfirmed) reasons.push('number_not_confirmed');
  return { answer: isProved ? 'yes' : 'unproved', reasons, channels };
}

function stateOf(contact: Contact, channel: Channel, configured: ReadonlySet<Channel>): ChannelReadiness {
  if (!wantsChannel(contact, channel)) return 'off';
  if (findAddress(contact, channel) === null) return 'no_address';
  return configured.has(channel) ? 'ready' : 'not_configured';
}

/** A message that went to another number, or to no device that is still there, proves nothing. */
function findProof({ contact, arrivals, devicesSince }: Reach, channel: Channel): Instant | null {
  const address = findAddress(contact, channel);
  const arrival = arrivals.find((candidate) => candidate.channel === channel);
  if (address === null || arrival === undefined) return null;
  if (declarationOf(channel).addressKind === 'browser') {
    return devicesSince !== null && isAtOrBefore(devicesSince, arrival.at) ? arrival.at : null;
  }
  return arrival.address === address.to ? arrival.at : null;
}
