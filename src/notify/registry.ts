import type { Channel } from '#core/oncall/channel.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import { callSender } from '#notify/channels/call.ts';
import { smsSender } from '#notify/channels/sms.ts';
import { createTwilioClient, type TwilioAccount } from '#notify/twilio_client.ts';

/** The channels that the operator has set up; a channel that is absent is not configured. */
export type Senders = ReadonlyMap<Channel, ChannelSender>;

interface NotifySettings {
  readonly baseUrl: string;
  readonly twilio: TwilioAccount | null;
}

export function createSenders({ baseUrl, twilio }: NotifySettings): Senders {
  const senders: ChannelSender[] = [];
  if (twilio !== null) {
    const client = createTwilioClient(twilio);
    senders.push(smsSender(client, twilio, baseUrl), callSender(client, twilio, baseUrl));
  }
  return new Map(senders.map((sender) => [sender.channel, sender]));
}
