import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import twilio from 'twilio';
import { afterEach, expect } from 'vitest';

import { type Phone, type PhoneOptions, startPhone } from '#phone_simulator/phone.ts';

export const ACCOUNT = 'AC00000000000000000000000000000001';
export const TOKEN = 'a-token-of-the-test';
export const OURS = '+15005550006';
export const ANNA = '+31612345678';
export const BRAM = '+31687654321';

interface Received {
  readonly path: string;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly isSigned: boolean;
}

/** The product's side: keeps what arrives, checks each signature with Twilio's library, answers from a table. */
export async function startReceiver() {
  const received: Received[] = [];
  let next = Promise.withResolvers<void>();
  const answers = new Map<string, { body: string; status?: number; type?: string }>();
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const params = Object.fromEntries(new URLSearchParams(Buffer.concat(chunks).toString()));
      const signature = String(request.headers['x-twilio-signature']);
      const address = url + String(request.url);
      received.push({
        path: String(request.url),
        method: String(request.method),
        params,
        isSigned: twilio.validateRequest(TOKEN, signature, address, params),
      });
      next.resolve();
      next = Promise.withResolvers();
      const [path = ''] = String(request.url).split('?', 1);
      const answer = answers.get(`${path} ${params['Digits'] ?? ''}`.trim()) ?? answers.get(path);
      response.writeHead(answer?.status ?? 200, { 'content-type': answer?.type ?? 'text/xml' });
      response.end(answer?.body ?? '');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const statuses = (key = 'MessageStatus') =>
    received.filter((request) => request.path === '/status').map((request) => request.params[key]);
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  /** Resolves once it receives something more. */
  const heard = (): Promise<void> => next.promise;
  return { url, received, heard, answers, statuses, close };
}

/** Resources that are closed after each test. */
export const open: { close(): Promise<void> }[] = [];

/** A simulator with a clock of its own, and the product's side of it. */
export async function start(options: Partial<PhoneOptions> = {}) {
  const product = await startReceiver();
  const clock = { ms: Date.parse('2026-11-21T12:00:00Z') };
  const phone = await startPhone({
    accountSid: ACCOUNT,
    authToken: TOKEN,
    numbers: [{ e164: OURS, smsUrl: `${product.url}/sms` }],
    now: () => clock.ms,
    ...options,
  });
  open.push(phone, product);
  const clientOf = (token = TOKEN, timeout = 5_000) => {
    const client = twilio(ACCOUNT, token, { timeout });
    client.api.baseUrl = phone.url;
    return client;
  };
  const advance = (ms: number) => {
    clock.ms += ms;
    return phone.elapse();
  };
  return { phone, product, client: clientOf(), clientOf, advance, statusCallback: `${product.url}/status` };
}

afterEach(async () => {
  for (const { close } of open.splice(0)) await close();
});

/** Returns the value that the promise was rejected with. */
export async function refusal(work: Promise<unknown>): Promise<Record<string, unknown>> {
  return work.then(
    () => expect.fail('expected a refusal'),
    (error: unknown) => error as Record<string, unknown>,
  );
}

export const twiml = (inner: string) => `<?xml version="1.0" encoding="UTF-8"?><Response>${inner}</Response>`;

export const INCIDENT = twiml(
  '<Gather action="/digits?incident=1" numDigits="1" timeout="10"><Say>CPU is above 90 &amp; rising.</Say></Gather>' +
    '<Say>Goodbye.</Say>',
);

/** Returns the call that rings by now. */
export async function ringing(phone: Phone) {
  await phone.settled();
  return phone.calls.find(({ status }) => status === 'ringing') ?? expect.fail('no call rings');
}
