import { randomInt } from 'node:crypto';

import type { Cipher } from '#auth/cipher.ts';
import { hashSecret } from '#auth/secret_text.ts';
import type { StoredAlertKey } from '#modules/alerts/store/alert_key_store.ts';

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 32;

/** A new key: 32 characters that every tool takes for a key of its own protocol, 165 bits. */
export function newAlertKey(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** Whether the text has the form of an alert key. */
export function isAlertKey(text: string): boolean {
  return /^[a-z0-9]{32}$/.test(text);
}

export function sealAlertKey(key: string, cipher: Cipher): StoredAlertKey {
  return { keyHash: hashSecret(key), secret: cipher.encrypt(key) };
}

export function openAlertKey(secret: Buffer, cipher: Cipher): string {
  return cipher.decrypt(secret);
}
