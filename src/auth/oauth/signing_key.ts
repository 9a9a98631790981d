import { createPrivateKey, hkdfSync, type JsonWebKey } from 'node:crypto';

/** The head of a PKCS #8 Ed25519 key, before its 32 bytes (RFC 8410 §7). */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * The key that the provider wants for tokens that say who somebody is. None is ever issued; the key is derived from
 * APP_SECRET, so that every process publishes the same one.
 */
export function signingKeyOf(appSecret: string): JsonWebKey {
  const seed = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'oauth-signing', 32));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
  return key.export({ format: 'jwk' });
}
