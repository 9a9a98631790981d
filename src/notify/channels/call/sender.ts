import type { ChannelSender } from '#notify/channel.ts';
import { CALL_STATUS } from '#notify/channels/call/reports.ts';
import { VOICE } from '#notify/channels/call/text.ts';
import {
  callbackUrl,
  LOOKED_AT_MAX,
  type TwilioAccount,
  type TwilioClient,
  twilioSender,
} from '#notify/twilio/client.ts';

const RING_SECONDS = 25;

/** Voice calls by Twilio. What is said, and what a pressed digit does, is asked of us when the call is answered. */
export function callSender(client: TwilioClient, { from }: TwilioAccount, baseUrl: string): ChannelSender {
  return twilioSender(client, {
    findsByWords: false,
    create: (twilio, outgoing) =>
      twilio.calls.create({
        to: outgoing.to ?? '',
        from,
        url: callbackUrl(baseUrl, VOICE.say, outgoing.notificationId),
        method: 'POST',
        statusCallback: callbackUrl(baseUrl, CALL_STATUS, outgoing.notificationId),
        statusCallbackEvent: ['initiated', 'completed'],
        statusCallbackMethod: 'POST',
        machineDetection: 'Enable',
        timeout: RING_SECONDS,
      }),
    list: (twilio, outgoing, startTimeAfter) =>
      twilio.calls.list({ to: outgoing.to ?? '', from, startTimeAfter, limit: LOOKED_AT_MAX }),
  });
}
