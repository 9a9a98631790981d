import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net';
import tls from 'node:tls';

import twilio from 'twilio';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';

import { createExternalPost } from '#auth/external_fetch.ts';
import { HeldBackError, whileMayLeave } from '#kernel/held_request.ts';
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
/** Called before the server and a sender agree on encryption. */
let onConnection = (): void => {};

beforeAll(async () => {
  certificates = makeCertificates();
  const [key, cert] = [certificates.keyFile, certificates.certFile].map((file) => readFileSync(file));
  server = createServer({ key, cert }, (_, response) => {
    requests += 1;
    response.writeHead(201).end('{"sid":"1"}');
  });
  server.on('connection', () => onConnection());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  await new Promise<void>((done) => server.close(() => done()));
  certificates.remove();
});

const links = createAnswerLinks(SECRET, BASE_URL);
const addressOf = (listening: TcpServer) => `https://127.0.0.1:${(listening.address() as AddressInfo).port}`;

function senders(address = addressOf(server)) {
  const account = { accountSid: `AC${'0'.repeat(32)}`, authToken: 'token', from: '+15005550006', apiBase: address };
  const client = createTwilioClient(account);
  const browser = createECDH('prime256v1');
  browser.generateKeys();
  const subscription = {
    id: asId('subscription', 'subscription_1'),
    endpoint: `${address}/push`,
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

test.each(['sms', 'call', 'push'] as const)(
  'a %s whose process is frozen while it connects leaves only if nobody else has taken it over meanwhile',
  async (channel) => {
    const authorities = tls.getCACertificates();
    tls.setDefaultCACertificates([...authorities, readFileSync(certificates.caFile, 'utf8')]);
    onTestFinished(() => {
      tls.setDefaultCACertificates(authorities);
      onConnection = () => {};
      requests = 0;
    });
    const sender = senders()[channel];
    await sender.load();
    let mayLeave = true;
    onConnection = () => (mayLeave = false);
    const held = whileMayLeave(
      () => mayLeave,
      () => sender.send(OUTGOING),
    );
    await expect(held).rejects.toThrow(HeldBackError);
    expect(requests).toBe(0);
    onConnection = () => {};
    const sent = whileMayLeave(
      () => true,
      () => sender.send(OUTGOING),
    );
    expect(await sent).toMatchObject({ kind: 'accepted' });
    expect(requests).toBe(1);
  },
);

test.each(['sms', 'call'] as const)(
  'a %s to a provider with whom no connection comes about has certainly not left, and is tried again',
  async (channel) => {
    const silent = createTcpServer();
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { request } = twilio.RequestClient.prototype;
    const impatient = vi.spyOn(twilio.RequestClient.prototype, 'request').mockImplementation(function (
      this: InstanceType<typeof twilio.RequestClient>,
      options,
    ) {
      return request.call(this, { ...options, timeout: 50 });
    });
    onTestFinished(() => {
      impatient.mockRestore();
      silent.close();
    });
    const sent = await senders(addressOf(silent))[channel].send(OUTGOING);
    expect(sent).toEqual({ kind: 'retry', reason: 'provider_unreachable' });
  },
);
