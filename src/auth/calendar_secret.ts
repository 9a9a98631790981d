import type { Cipher } from '#auth/cipher.ts';
import { hashSecret, isSecretText, newSecretText } from '#auth/secret_text.ts';
import { SECRET_PREFIXES } from '#kernel/ids.ts';

const PREFIX = SECRET_PREFIXES.calendar;

/** A new secret for the address of a calendar, and what is stored of it. */
export function newCalendarSecret(cipher: Cipher): { secret: string; secretHash: Buffer; secretSealed: Buffer } {
  const secret = newSecretText(PREFIX);
  return { secret, secretHash: hashSecret(secret), secretSealed: cipher.encrypt(secret) };
}

/** Returns the hash by which a secret of the right form is found; null for any other text. */
export function calendarSecretHash(text: string): Buffer | null {
  return isSecretText(PREFIX, text) ? hashSecret(text) : null;
}

export function calendarUrl(baseUrl: string, secret: string): string {
  return `${baseUrl}/api/calendar/${secret}.ics`;
}
