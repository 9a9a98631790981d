import { createHash, randomInt } from 'node:crypto';

import { Secret, TOTP } from 'otpauth';

import type { Temporal } from '#kernel/time.ts';

const PERIOD_SECONDS = 30;
/** A code of the period before or after is taken as well: clocks of phones differ. */
const PERIODS_AROUND = 1;

/** A new secret for an authenticator app, in base 32. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** Returns the URI that an authenticator app reads from a QR code. */
export function totpUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

/** Returns the period (30 s each, since 1970) whose code this is; null for a wrong one. */
export function periodOfCode(secret: string, code: string, now: Temporal.Instant): number | null {
  const timestamp = now.epochMilliseconds;
  const delta = totpOf(secret, '').validate({ token: code, timestamp, window: PERIODS_AROUND });
  return delta === null ? null : Math.floor(timestamp / 1_000 / PERIOD_SECONDS) + delta;
}

export function codeAt(secret: string, now: Temporal.Instant): string {
  return totpOf(secret, '').generate({ timestamp: now.epochMilliseconds });
}

/** RFC 6238 with the parameters that every app knows. */
function totpOf(secret: string, label: string): TOTP {
  return new TOTP({ issuer: 'Tocsin', label, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS, secret });
}

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
