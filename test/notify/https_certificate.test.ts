import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { createExternalPost } from '#auth/external_fetch.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { createAnswerLinks } from '#notify/answer_link.ts';
import { callSender } from '#notify/channels/call/sender.ts';
import { deriveVapidKeys, pushSender } from '#notify/channels/push/sender.ts';
import { smsSender } from '#notify/channels/sms/sender.ts';
import type { OutgoingMessage } from '#notify/message.ts';
import { createTwilioClient } from '#notify/twilio/client.ts';
import { type Certificates, makeCertificates } from '#test/kit/programs/certificates.ts';

const BASE_URL = 'https://tocsin.example.com';
const SECRET = 'a secret of at least thirty-two characters';
const OUTGOING: OutgoingMessage = {
  notificationId: asId('notification', 'notification_1'),
  orgId: asId('org', 'org_1'),
  userId: asId('user', 'user_1'),
  to: '+31612345678',
  createdAt: Temporal.Instant.from('2027-01-31T12:00:00Z'),
  message: { kind: 'test' },
};

let certificates: Certificates;
let server: Server;
let requests = 0;

beforeAll(async () => {
  certificates = makeCertificates();
  const [key, cert] = [certificates.keyFile, certificates.certFile].map((file) => readFileSync(file));
  server = createServer({ key, cert }, (_, response) => {
    requests += 1;
    response.writeHead(201).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  await new Promise<void>((done) => server.close(() => done()));
  certificates.remove();
});

const links = createAnswerLinks(SECRET, BASE_URL);
const address = () => `https://127.0.0.1:${(server.address() as AddressInfo).port}`;

function senders() {
  const account = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'token', from: '+15005550006', apiBase: address() };
  const client = createTwilioClient(account);
  const browser = createECDH('prime256v1');
  browser.generateKeys();
  const subscription = {
    id: asId('subscription', 'subscription_1'),
    endpoint: `${address()}/push`,
    p256dh: browser.getPublicKey('base64url'),
    auth: randomBytes(16).toString('base64url'),
  };
  const settings = {
    post: createExternalPost({ allowInternalAddresses: true }),
    keys: deriveVapidKeys(SECRET),
    subscriptions: { listOf: async () => [subscription], remove: async () => {} },
    mailFrom: 'tocsin@example.com',
    baseUrl: BASE_URL,
  };
  return {
    sms: smsSender(client, account, links, BASE_URL),
    call: callSender(client, account, BASE_URL),
    push: pushSender(settings, links),
  };
}

test.each(['sms', 'call', 'push'] as const)(
  'a %s that a certificate keeps from its provider has failed for certain, with what to do',
  async (channel) => {
    expect(await senders()[channel].send(OUTGOING)).toEqual({ kind: 'rejected', reason: 'provider_https_untrusted' });
    expect(requests).toBe(0);
  },
);
