import { createHmac } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/** Headers of Standard Webhooks: the id, the time of this attempt, and the signature over both and the body. */
export function webhookHeaders(
  secret: string,
  { id, body, nowMs }: { readonly id: string; readonly body: string; readonly nowMs: number },
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64');
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
