import { randomInt } from 'node:crypto';

import type { Cipher } from '#auth/cipher.ts';
import { KeyCache } from '#auth/key_cache.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import { AlertKeyStore, type AlertTarget, type StoredAlertKey } from '#modules/alerts/store/alert_key_store.ts';
import type { Database } from '#storage/postgres/database.ts';

/** The way in for alerts of other tools. */
export interface AlertAccess {
  /**
   * The service of the key. Throws `unauthenticated` for a key that opens nothing, `forbidden` without the capability
   * oncall, and `unavailable` when the database is away and the key is not known from before.
   */
  open(key: string | null): Promise<AlertTarget>;
}

/** A rotated or revoked key, a disabled capability or a deleted service is refused within a second, everywhere. */
export function createAlertAccess(db: Database, clock: Clock, log: Log): AlertAccess {
  const keys = new KeyCache<AlertTarget>({
    findMany: (hashes) => new AlertKeyStore(db.session()).findTargets(hashes),
    clock,
    log,
  });
  return {
    async open(key) {
      if (key === null) throw new AppError('unauthenticated', 'send the alert key of the service');
      const target = isAlertKey(key) ? await keys.find(hashSecret(key)) : null;
      if (target === null) {
        throw new AppError('unauthenticated', 'this alert key is unknown, or was rotated or revoked');
      }
      if (!target.capabilities.includes('oncall')) {
        throw new AppError('forbidden', 'the capability oncall is not enabled for this service; enable it first');
      }
      return target;
    },
  };
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const LENGTH = 32;

/** A new key: 32 characters that every tool takes for a key of its own protocol, 165 bits. */
export function newAlertKey(): string {
  return Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** Whether the text has the form of an alert key. */
function isAlertKey(text: string): boolean {
  return /^[a-z0-9]{32}$/.test(text);
}

export function sealAlertKey(key: string, cipher: Cipher): StoredAlertKey {
  return { keyHash: hashSecret(key), secret: cipher.encrypt(key) };
}

export function openAlertKey(secret: Buffer, cipher: Cipher): string {
  return cipher.decrypt(secret);
}
