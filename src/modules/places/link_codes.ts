import { createHash, randomInt } from 'node:crypto';

/** Letters that nobody mistakes for others. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const LENGTH = 10;

/** Minutes for which a code may be typed. */
export const LINK_CODE_MINUTES = 10;

/** Tries of one chat account, so that nobody finds a code by trying. */
export const LINK_TRIES = { max: 10, windowSeconds: 900 } as const;

/** A new code of 50 bits. */
export function newLinkCode(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** Returns the hash of a code as it was typed: in any case, with any spaces and dashes. */
export function linkCodeHash(typed: string): Buffer {
  const code = typed.replaceAll(/[\s-]/g, '').toUpperCase();
  return createHash('sha256').update(code).digest();
}
