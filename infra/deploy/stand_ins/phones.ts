/** The phone simulator in place of a Twilio account, for a trial of compose.yaml. It calls the container "api" back. */
import { startPhone } from '@tocsin/phone-simulator';

import { inboundSmsUrl } from '#notify/twilio/client.ts';
import { forwardRequests } from './forward.ts';

const OWN_PORT = 13_001;
const API = 'http://api:3000';

const setting = (name: string): string => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

const baseUrl = setting('BASE_URL').replace(/\/+$/, '');
const phone = await startPhone({
  port: OWN_PORT,
  accountSid: setting('TWILIO_ACCOUNT_SID'),
  authToken: setting('TWILIO_AUTH_TOKEN'),
  numbers: [{ e164: setting('TWILIO_FROM'), smsUrl: inboundSmsUrl(baseUrl) }],
  delayMs: 150,
  publicUrlRewrite: (url) => `${API}${url.slice(new URL(url).origin.length)}`,
});
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => void phone.close().finally(() => process.exit(0)));
}
await forwardRequests({ from: 3001, to: OWN_PORT });
