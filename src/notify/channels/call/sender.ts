import { callbackUrl } from '#notify/twilio/callback_url.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import {
  deliveryOfError,
  REQUEST_TIMEOUT_MS,
  type TwilioAccount,
  type TwilioClient,
  UNCERTAIN_ATTEMPTS_MAX,
} from '#notify/twilio/client.ts';

const RING_SECONDS = 25;
const LOOKED_AT_MAX = 50;

/** Voice calls by Twilio. What is said, and what a pressed digit does, is asked of us when the call is answered. */
export function callSender(client: TwilioClient, account: TwilioAccount, baseUrl: string): ChannelSender {
  return {
    timeoutMs: REQUEST_TIMEOUT_MS,
    uncertainAttemptsMax: UNCERTAIN_ATTEMPTS_MAX,
    async send(outgoing) {
      const twilio = await client();
      try {
        const call = await twilio.calls.create({
          to: outgoing.to ?? '',
          from: account.from,
          url: callbackUrl(baseUrl, 'voice', outgoing.notificationId),
          method: 'POST',
          statusCallback: callbackUrl(baseUrl, 'call-status', outgoing.notificationId),
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
    async listSent(outgoing, sinceMs) {
      const twilio = await client();
      const filter = {
        to: outgoing.to ?? '',
        from: account.from,
        startTimeAfter: new Date(sinceMs),
        limit: LOOKED_AT_MAX,
      };
      return (await twilio.calls.list(filter)).map(({ sid }) => sid);
    },
  };
}
