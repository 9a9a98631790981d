import { randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** Makes a signing secret in the form of Standard Webhooks: `whsec_` and base64. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;
}
