import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Encrypts what must be shown again (ingestion keys, addresses of calendars) or waits with secrets in it. Tampered or
 * foreign bytes make `decrypt` and `open` throw.
 */
export interface Cipher {
  encrypt(text: string): Buffer;
  decrypt(sealed: Buffer): string;
  seal(bytes: Uint8Array): Buffer;
  open(sealed: Buffer): Buffer;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM under a key derived (HKDF, RFC 5869) from APP_SECRET for this purpose alone. */
export function createCipher(
  appSecret: string,
  purpose:
    | 'ingest-keys'
    | 'calendar-feeds'
    | 'invitations'
    | 'waiting-events'
    | 'second-factors'
    | 'event-attachments'
    | 'openid-secrets'
    | 'status-subscribers'
    | 'audit-streams'
    | 'issue-trackers'
    | 'organization-exports'
    | 'places' = 'ingest-keys',
): Cipher {
  // Bytes as the key cost 16 µs more a call: the runtime tries them as a key object first, which throws.
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', purpose, 32)));
  const seal = (bytes: Uint8Array): Buffer => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const body = [cipher.update(bytes), cipher.final()];
    return Buffer.concat([nonce, cipher.getAuthTag(), ...body]);
  };
  const open = (sealed: Buffer): Buffer => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  };
  return {
    seal,
    open,
    encrypt: (text) => seal(Buffer.from(text, 'utf8')),
    decrypt: (sealed) => open(sealed).toString('utf8'),
  };
}
