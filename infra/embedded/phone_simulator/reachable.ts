import { TwilioRefusal } from './twilio_errors.ts';

export const isE164 = (number: string): boolean => /^\+[1-9]\d{6,14}$/.test(number);

/** Throws Twilio's 21211 for anything but an E.164 number. */
export function requireReachable(number: string): void {
  if (!isE164(number)) throw new TwilioRefusal(21211, `Invalid 'To' Phone Number: ${number}`);
}
