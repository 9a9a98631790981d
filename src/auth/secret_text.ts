import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

import type { Cipher } from '#auth/cipher.ts';
import { SECRET_PREFIXES, type SecretPrefix } from '#kernel/ids.ts';

type LinkPurpose = 'reset' | 'invitation';

/** A new token for a link, and the hash, which alone is kept. */
export function newLinkToken(purpose: LinkPurpose): { token: string; tokenHash: Buffer } {
  const token = newSecretText(SECRET_PREFIXES[purpose]);
  return { token, tokenHash: hashSecret(token) };
}

/** Returns the hash by which a token of the right form is found; null for any other text. */
export function linkTokenHash(purpose: LinkPurpose, token: string): Buffer | null {
  return isSecretText(SECRET_PREFIXES[purpose], token) ? hashSecret(token) : null;
}

/** The page of the console that the link opens. */
export function linkUrl(baseUrl: string, purpose: LinkPurpose, token: string): string {
  return `${baseUrl}/${purpose}/${token}`;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let index = 0; index < length; index += 1) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

function checksumOf(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base62(bytes, CHECKSUM_LENGTH);
}

/**
 * A new 256-bit secret: prefix, 43 base-62 digits, and a CRC-32 in 6 more, so that secret scanners can recognise a
 * leaked one and a mistyped one is refused without asking the database.
 */
export function newSecretText(prefix: SecretPrefix): string {
  return secretTextOf(prefix, randomBytes(32));
}

/** Returns the secret text of 256 bits that are as good as random. */
export function secretTextOf(prefix: SecretPrefix, bytes: Buffer): string {
  const body = `${prefix}_${base62(bytes, BODY_LENGTH)}`;
  return body + checksumOf(body);
}

export function isSecretText(prefix: SecretPrefix, text: string): boolean {
  if (text.length !== prefix.length + 1 + BODY_LENGTH + CHECKSUM_LENGTH || !text.startsWith(`${prefix}_`)) return false;
  return checksumOf(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** Returns the stored hash of a secret of full entropy; such secrets need no slow hash. */
export function hashSecret(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

const SECRET_BYTES = 32;

/** Makes a signing secret in the form of Standard Webhooks: `whsec_` and base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}

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
