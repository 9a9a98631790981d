import { ECDH } from 'node:crypto';
import { isIP } from 'node:net';

import type { Fault } from '#kernel/errors.ts';

/** Fields of a browser's `PushSubscription.toJSON()` that sending needs. */
export interface SubscriptionFields {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

const ENDPOINT_LENGTH_MAX = 2_000;
const POINT_BYTES = 65;
const AUTH_BYTES = 16;

/** Names of a private network: no subscription may make this server post to internal hosts. */
export const INTERNAL_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|arpa)$/i;

/** Faults of a subscription that no push service would have made. */
export function subscriptionFaults({ endpoint, keys }: SubscriptionFields): Fault[] {
  return [
    ...(isPublicAddress(endpoint)
      ? []
      : [{ path: 'endpoint', message: 'must be the https address of a public push service, as the browser gave it' }]),
    ...(isPoint(keys.p256dh)
      ? []
      : [
          {
            path: 'keys.p256dh',
            message: 'must be an uncompressed point of P-256 in base64url, as the browser gave it',
          },
        ]),
    ...(Buffer.from(keys.auth, 'base64url').length === AUTH_BYTES
      ? []
      : [{ path: 'keys.auth', message: `must be ${AUTH_BYTES} bytes in base64url, as the browser gave it` }]),
  ];
}

function isPublicAddress(endpoint: string): boolean {
  const url = endpoint.length <= ENDPOINT_LENGTH_MAX ? URL.parse(endpoint) : null;
  if (url === null || url.protocol !== 'https:' || url.port !== '' || url.username !== '' || url.password !== '') {
    return false;
  }
  const host = url.hostname.replace(/\.$/, '');
  return host.includes('.') && isIP(host) === 0 && !INTERNAL_NAME.test(host);
}

function isPoint(text: string): boolean {
  const point = Buffer.from(text, 'base64url');
  if (point.length !== POINT_BYTES || point[0] !== 4) return false;
  try {
    ECDH.convertKey(point, 'prime256v1');
    return true;
  } catch {
    return false;
  }
}
