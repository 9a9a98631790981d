import { randomInt, timingSafeEqual } from 'node:crypto';

const DIGITS = 6;

/** Six digits that are sent to a phone and typed by its owner. */
export function newPhoneCode(): string {
  return String(randomInt(10 ** DIGITS)).padStart(DIGITS, '0');
}

/** Compares in constant time; both are of six digits. */
export function isSamePhoneCode(sent: string, typed: string): boolean {
  return sent.length === typed.length && timingSafeEqual(Buffer.from(sent), Buffer.from(typed));
}
