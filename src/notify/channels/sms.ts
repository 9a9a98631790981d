import { callbackUrl } from '#notify/callback_url.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import { smsText } from '#notify/texts/sms_text.ts';
import { deliveryOfError, type TwilioAccount, type TwilioClient } from '#notify/twilio_client.ts';

/** A page that could not be delivered by then is worthless: another step has fired long since. */
const VALIDITY_SECONDS = 600;
const LOOKED_AT_MAX = 50;

/** SMS by Twilio. */
export function smsSender(client: TwilioClient, account: TwilioAccount, baseUrl: string): ChannelSender {
  return {
    channel: 'sms',
    async send(page) {
      try {
        const message = await client.messages.create({
          to: page.to ?? '',
          from: account.from,
          body: smsText(page, baseUrl),
          statusCallback: callbackUrl(baseUrl, 'sms-status', page.notificationId),
          validityPeriod: VALIDITY_SECONDS,
        });
        return { kind: 'accepted', providerId: message.sid };
      } catch (error) {
        return deliveryOfError(error);
      }
    },
    async listSent(page, sinceMs) {
      const text = smsText(page, baseUrl);
      const filter = { to: page.to ?? '', from: account.from, dateSentAfter: new Date(sinceMs), limit: LOOKED_AT_MAX };
      return (await client.messages.list(filter)).filter(({ body }) => body === text).map(({ sid }) => sid);
    },
  };
}
