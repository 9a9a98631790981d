import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

export interface SignedMessage {
  /** Identifier that stays the same when the message is sent again. */
  readonly id: string;
  readonly sentAtSeconds: number;
  readonly body: string;
}

/** Returns the headers of Standard Webhooks for a message; several secrets while one is being replaced. */
export function webhookHeaders({ id, sentAtSeconds, body }: SignedMessage, secrets: readonly string[]) {
  const signed = `${id}.${sentAtSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(sentAtSeconds),
    'webhook-signature': signatures.join(' '),
  } as const;
}
