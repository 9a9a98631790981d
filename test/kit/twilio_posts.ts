import { randomUUID } from 'node:crypto';

import twilio from 'twilio';

import { inboundSmsUrl } from '#notify/twilio/client.ts';
import { SERVICE_NUMBER, type StaffedWorld } from '#test/kit/staffed_world.ts';

const BASE_URL = 'http://tocsin.test';

/** An SMS from this number to the service, signed as Twilio does, and the text of its answer; null for none. */
export async function textFrom(w: StaffedWorld, from: string, body: string): Promise<string | null> {
  const path = new URL(inboundSmsUrl(BASE_URL)).pathname;
  const fields = { MessageSid: `SM${randomUUID()}`, From: from, To: SERVICE_NUMBER, Body: body };
  const token = w.context.config.twilioAuthToken ?? '';
  const response = await w.app.inject({
    method: 'POST',
    url: path,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-twilio-signature': twilio.getExpectedTwilioSignature(token, BASE_URL + path, fields),
    },
    payload: new URLSearchParams(fields).toString(),
  });
  if (response.statusCode !== 200) throw new Error(`the SMS was answered ${response.statusCode}`);
  return /<Message>(.*?)<\/Message>/s.exec(response.body)?.[1] ?? null;
}
