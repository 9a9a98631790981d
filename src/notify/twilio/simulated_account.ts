import { createHmac } from 'node:crypto';

/** Returns the account by which `npm start` talks to the phone simulator while no Twilio account is configured. */
export function simulatedAccountSid(appSecret: string): string {
  return `AC${createHmac('sha256', appSecret).update('simulated account').digest('hex').slice(0, 32)}`;
}

/** Returns the secret in the address of the simulator's page, by which anybody's messages can be read. */
export function simulatorTokenOf(appSecret: string): string {
  return createHmac('sha256', appSecret).update('token of the phone simulator').digest('hex').slice(0, 32);
}

/** Number of digits of its account by which the simulator begins the ids of messages and calls, behind two letters. */
const ACCOUNT_DIGITS = 12;

/**
 * Returns the pattern of `LIKE` for ids of messages and calls that went to the phone simulator. They stay in the log
 * once a Twilio account is configured, and have reached nobody.
 */
export function simulatedIdsOf(appSecret: string): string {
  return `__${simulatedAccountSid(appSecret).slice(2, 2 + ACCOUNT_DIGITS)}%`;
}
