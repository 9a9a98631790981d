import { createHmac } from 'node:crypto';

/** Returns the account by which `npm start` talks to the phone simulator while no Twilio account is configured. */
export function simulatedAccountSid(appSecret: string): string {
  return `AC${createHmac('sha256', appSecret).update('simulated account').digest('hex').slice(0, 32)}`;
}
