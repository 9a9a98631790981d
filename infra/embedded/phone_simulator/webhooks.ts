import { randomUUID } from 'node:crypto';

import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';

import type { CallbackKind, Exchange } from './exchange.ts';

/** Twilio's own limit. */
const ANSWER_WITHIN_MS = 15_000;

export interface Webhook {
  readonly kind: CallbackKind;
  readonly sid: string;
  /** The public address, as the product gave it. */
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
}

export interface WebhookAnswer {
  /** Null: unreachable, or no answer within 15 s. */
  readonly status: number | null;
  readonly contentType: string;
  readonly body: string;
}

/** Asks the product, signed as Twilio signs. Never throws: what went wrong is in the answer. */
export type Ask = (webhook: Webhook) => Promise<WebhookAnswer>;

interface AskOptions {
  readonly exchange: Exchange;
  readonly authToken: string;
  /** Returns the address to connect to for a public address; the signature is always over the public address. */
  readonly rewrite: (url: string) => string;
  /** Gives up what is under way when the simulator closes. */
  readonly closing: AbortSignal;
}

export function createAsk(options: AskOptions): Ask {
  const { exchange } = options;
  return async (webhook) => {
    const record = exchange.addCallback({ ...webhook, outcome: 'waiting' });
    const answer = await send(webhook, options).catch(() => null);
    exchange.answerCallback(record, {
      outcome: answer === null ? 'unreachable' : 'answered',
      status: answer?.status ?? null,
    });
    return answer ?? { status: null, contentType: '', body: '' };
  };
}

async function send({ url, params }: Webhook, { authToken, rewrite, closing }: AskOptions): Promise<WebhookAnswer> {
  const response = await fetch(rewrite(url), {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'x-twilio-signature': getExpectedTwilioSignature(authToken, url, params),
      'i-twilio-idempotency-token': randomUUID(),
      'user-agent': 'TwilioProxy/1.1',
      accept: '*/*',
    },
    body: new URLSearchParams(params).toString(),
    signal: AbortSignal.any([closing, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
  });
  const contentType = response.headers.get('content-type') ?? '';
  return { status: response.status, contentType, body: await response.text() };
}
