import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Encrypts what must be shown again (ingestion keys, addresses of calendars). Tampered or foreign bytes make `decrypt` throw. */
export interface Cipher {
  encrypt(text: string): Buffer;
  decrypt(sealed: Buffer): string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM under a key derived (HKDF, RFC 5869) from APP_SECRET for this purpose alone. */
export function createCipher(
  appSecret: string,
  purpose: 'ingest-keys' | 'calendar-feeds' | 'invitations' = 'ingest-keys',
): Cipher {
  const key = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', purpose, 32));
  return {
    encrypt(text) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    decrypt(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    },
  };
}
