import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { ChannelSender } from '#notify/channel_sender.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import { SMS_STATUS } from '#notify/channels/sms/reports.ts';
import { smsText } from '#notify/channels/sms/text.ts';
import { callbackUrl, type TwilioAccount, type TwilioClient } from '#notify/twilio/client.ts';
import { LOOKED_AT_MAX, twilioSender } from '#notify/twilio/twilio_sender.ts';

/** A page that could not be delivered by then is worthless: another step has fired long since. */
const VALIDITY_SECONDS = 600;

/** SMS by Twilio. */
export function smsSender(
  client: TwilioClient,
  { from }: TwilioAccount,
  links: AnswerLinks,
  baseUrl: string,
): ChannelSender {
  const linkOf = (outgoing: OutgoingMessage) =>
    outgoing.message.kind === 'proposal' ? links.proposalUrlOf(outgoing) : links.shortUrlOf(outgoing);
  const textOf = (outgoing: OutgoingMessage) =>
    smsText(outgoing.message, linkTo(baseUrl, PAGES.incidents, outgoing.orgId), linkOf(outgoing));
  return twilioSender(client, {
    findsByWords: true,
    create: (twilio, outgoing) =>
      twilio.messages.create({
        to: outgoing.to ?? '',
        from,
        body: textOf(outgoing),
        statusCallback: callbackUrl(baseUrl, SMS_STATUS, outgoing.notificationId),
        validityPeriod: VALIDITY_SECONDS,
      }),
    async list(twilio, outgoing, dateSentAfter) {
      const text = textOf(outgoing);
      const filter = { to: outgoing.to ?? '', from, dateSentAfter, limit: LOOKED_AT_MAX };
      return (await twilio.messages.list(filter)).filter(({ body }) => body === text);
    },
  });
}
