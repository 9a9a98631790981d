import { callbackUrl } from '#notify/callback_url.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import { deliveryOfError, type TwilioAccount, type TwilioClient } from '#notify/twilio_client.ts';

const RING_SECONDS = 25;
const LOOKED_AT_MAX = 50;

/** Voice calls by Twilio. What is said, and what a pressed digit does, is asked of us when the call is answered. */
export function callSender(client: TwilioClient, account: TwilioAccount, baseUrl: string): ChannelSender {
  return {
    channel: 'call',
    async send(page) {
      try {
        const call = await client.calls.create({
          to: page.to ?? '',
          from: account.from,
          url: callbackUrl(baseUrl, 'voice', page.notificationId),
          method: 'POST',
          statusCallback: callbackUrl(baseUrl, 'call-status', page.notificationId),
          statusCallbackEvent: ['initiated', 'completed'],
          statusCallbackMethod: 'POST',
          machineDetection: 'Enable',
          timeout: RING_SECONDS,
        });
        return { kind: 'accepted', providerId: call.sid };
      } catch (error) {
        return deliveryOfError(error);
      }
    },
    async listSent(page, sinceMs) {
      const filter = { to: page.to ?? '', from: account.from, startTimeAfter: new Date(sinceMs), limit: LOOKED_AT_MAX };
      return (await client.calls.list(filter)).map(({ sid }) => sid);
    },
  };
}
