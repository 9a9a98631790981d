import { callbackUrl } from '#notify/twilio/callback_url.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import { smsText } from '#notify/channels/sms/text.ts';
import {
  deliveryOfError,
  REQUEST_TIMEOUT_MS,
  type TwilioAccount,
  type TwilioClient,
  UNCERTAIN_ATTEMPTS_MAX,
} from '#notify/twilio/client.ts';

/** A page that could not be delivered by then is worthless: another step has fired long since. */
const VALIDITY_SECONDS = 600;
const LOOKED_AT_MAX = 50;

/** SMS by Twilio. */
export function smsSender(client: TwilioClient, account: TwilioAccount, baseUrl: string): ChannelSender {
  return {
    timeoutMs: REQUEST_TIMEOUT_MS,
    uncertainAttemptsMax: UNCERTAIN_ATTEMPTS_MAX,
    async send(outgoing) {
      const twilio = await client();
      try {
        const message = await twilio.messages.create({
          to: outgoing.to ?? '',
          from: account.from,
          body: smsText(outgoing.message, baseUrl),
          statusCallback: callbackUrl(baseUrl, 'sms-status', outgoing.notificationId),
          validityPeriod: VALIDITY_SECONDS,
        });
        return { kind: 'accepted', providerId: message.sid };
      } catch (error) {
        return deliveryOfError(error);
      }
    },
    async listSent(outgoing, sinceMs) {
      const twilio = await client();
      const text = smsText(outgoing.message, baseUrl);
      const filter = {
        to: outgoing.to ?? '',
        from: account.from,
        dateSentAfter: new Date(sinceMs),
        limit: LOOKED_AT_MAX,
      };
      return (await twilio.messages.list(filter)).filter(({ body }) => body === text).map(({ sid }) => sid);
    },
  };
}
