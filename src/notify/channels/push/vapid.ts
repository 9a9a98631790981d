import { createECDH, hkdfSync } from 'node:crypto';

/** Our name towards push services (VAPID, RFC 8292). Browsers subscribe to this public key and no other. */
export interface VapidKeys {
  /** Uncompressed point, base64url, as `PushManager.subscribe` takes it. */
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Order of the group P-256 (SEC 2, secp256r1). */
const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
/** Seed size: 128 bits more than the order has, so that the remainder is as good as uniform (FIPS 186-5 A.2.1). */
const SEED_BYTES = 48;

/**
 * Derives the keys (HKDF, RFC 5869) from APP_SECRET, so that every process of an installation has the same pair after
 * every start without storing it anywhere. With another APP_SECRET every browser has to subscribe anew.
 */
export function deriveVapidKeys(appSecret: string): VapidKeys {
  const seed = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'vapid', SEED_BYTES));
  const scalar = (BigInt(`0x${seed.toString('hex')}`) % (ORDER - 1n)) + 1n;
  const privateKey = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(privateKey);
  return { publicKey: pair.getPublicKey('base64url'), privateKey: privateKey.toString('base64url') };
}
