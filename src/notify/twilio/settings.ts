import { optionalText, optionalUrl, type ValuesOf } from '#kernel/config.ts';
import type { TwilioAccount } from '#notify/twilio/client.ts';

/** The account by which messages and calls go out. */
export const TWILIO_SETTINGS = {
  twilioAccountSid: optionalText(
    'TWILIO_ACCOUNT_SID',
    '^AC[0-9a-fA-F]{32}$',
    'AC and 32 hexadecimal digits',
    'Twilio account for SMS and calls',
    { unset: 'simulator' },
  ),
  twilioAuthToken: optionalText('TWILIO_AUTH_TOKEN', '^.+$', 'the token of the account', 'its token', {
    requiredWith: 'TWILIO_ACCOUNT_SID',
    isSecret: true,
  }),
  twilioFrom: optionalText(
    'TWILIO_FROM',
    '^\\+[1-9][0-9]{1,14}$',
    'an E.164 number such as +15005550006',
    'E.164 number that messages and calls come from',
    { requiredWith: 'TWILIO_ACCOUNT_SID' },
  ),
  twilioApiBase: optionalUrl('TWILIO_API_BASE', ['http', 'https'], "another address for Twilio's API"),
};

/** Returns the Twilio account; null if none is configured. */
export function twilioAccountOf(settings: ValuesOf<typeof TWILIO_SETTINGS>): TwilioAccount | null {
  const {
    twilioAccountSid: accountSid,
    twilioAuthToken: authToken,
    twilioFrom: from,
    twilioApiBase: apiBase,
  } = settings;
  if (accountSid === undefined || authToken === undefined || from === undefined) return null;
  return { accountSid, authToken, from, apiBase };
}
