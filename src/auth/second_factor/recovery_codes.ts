import { createHash, randomInt } from 'node:crypto';

const CODES = 10;
const GROUPS = 3;
const GROUP_LENGTH = 4;
/** Letters and digits that are not mistaken for one another: 60 bits in twelve of them. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz0';

/** Ten codes for the day on which everything else is lost, such as `k7mq-2d9f-w3xa`. */
export function newRecoveryCodes(): string[] {
  const letter = () => ALPHABET.charAt(randomInt(ALPHABET.length));
  const group = () => Array.from({ length: GROUP_LENGTH }, letter).join('');
  return Array.from({ length: CODES }, () => Array.from({ length: GROUPS }, group).join('-'));
}

/** Returns the stored hash of a recovery code. Case, dashes and spaces do not matter. */
export function recoveryCodeHash(code: string): Buffer {
  return createHash('sha256')
    .update(code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''))
    .digest();
}
