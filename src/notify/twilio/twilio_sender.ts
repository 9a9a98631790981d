import { HeldBackError, isHeldBack } from '#kernel/held_request.ts';
import type { ChannelSender } from '#notify/channel.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import { deliveryOfError, type TwilioClient, UNCERTAIN_ATTEMPTS_MAX } from '#notify/twilio/client.ts';

type Twilio = Awaited<ReturnType<TwilioClient>>;

/** Number of messages or calls to the same address that are searched to find one again. */
export const LOOKED_AT_MAX = 50;

/** Twilio operations of one channel. */
interface TwilioChannel {
  create(twilio: Twilio, outgoing: OutgoingMessage): Promise<{ readonly sid: string }>;
  /** Lists every message since then that may be this one. */
  list(twilio: Twilio, outgoing: OutgoingMessage, since: Date): Promise<readonly { readonly sid: string }[]>;
  /** See `ChannelSender`. */
  readonly findsByWords: boolean;
}

export function twilioSender(client: TwilioClient, channel: TwilioChannel): ChannelSender {
  return {
    uncertainAttemptsMax: UNCERTAIN_ATTEMPTS_MAX,
    findsByWords: channel.findsByWords,
    load: client,
    async send(outgoing) {
      const twilio = await client();
      try {
        const { sid } = await channel.create(twilio, outgoing);
        return { kind: 'accepted', providerId: sid };
      } catch (error) {
        if (isHeldBack(error)) throw new HeldBackError();
        return deliveryOfError(error);
      }
    },
    async listSent(outgoing, sinceMs) {
      const messages = await channel.list(await client(), outgoing, new Date(sinceMs));
      return messages.map(({ sid }) => sid);
    },
  };
}
