import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';

import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { HeldBackError, whileMayLeave } from '#kernel/held_request.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { findMailFault, type MailServer, sendMail } from '#notify/mail/send_mail.ts';
import { type Certificates, makeCertificates } from '#test/kit/programs/certificates.ts';

let certificates: Certificates;
let servers: readonly SMTPServer[];
/** Called once a server knows the recipient of a mail. */
let onRecipient = (): void => {};
let arrived = 0;
let mailServer: (host: string, caFile: string | null, scheme?: Scheme) => MailServer;

/** Schemes of a mail server: by STARTTLS, or encrypted from the first byte. */
type Scheme = 'smtp' | 'smtps';

beforeAll(async () => {
  certificates = makeCertificates();
  const key = readFileSync(certificates.keyFile);
  const cert = readFileSync(certificates.certFile);
  const ports: Partial<Record<Scheme, number>> = {};
  servers = await Promise.all(
    (['smtp', 'smtps'] as const).map(async (scheme) => {
      const server = new SMTPServer({
        authOptional: true,
        secure: scheme === 'smtps',
        key,
        cert,
        onRcptTo(_address, _session, done) {
          onRecipient();
          done();
        },
        onData: (stream, _session, done) =>
          void stream.resume().on('end', () => {
            arrived += 1;
            done();
          }),
      });
      server.on('error', () => {});
      server.listen(0, '127.0.0.1');
      await once(server.server, 'listening');
      ports[scheme] = (server.server.address() as AddressInfo).port;
      return server;
    }),
  );
  mailServer = (host, caFile, scheme = 'smtp') => ({
    url: `${scheme}://${host}:${ports[scheme]}`,
    from: 'tocsin@example.com',
    ca: caFile === null ? null : readFileSync(caFile, 'utf8'),
  });
});

afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise<void>((done) => server.close(() => done()))));
  certificates.remove();
});

const mail = {
  to: 'anna@example.com',
  messageId: '<1@tocsin.test>',
  subject: 's',
  text: 't',
  html: '<p>t</p>',
  priority: 'normal',
} as const;

test('a server whose certificate nobody signed fails the mail at once, with what to do, and is found before', async () => {
  const untrusted = mailServer('127.0.0.1', null);
  const reason = 'provider_certificate_untrusted';
  expect(await sendMail(untrusted, mail)).toEqual({ kind: 'rejected', reason });
  expect(await findMailFault(untrusted)).toBe(reason);
  expect(await sendMail(mailServer('127.0.0.1', certificates.otherCaFile), mail)).toEqual({ kind: 'rejected', reason });
});

test('a certificate for another host fails the mail at once', async () => {
  const elsewhere = mailServer('localhost', certificates.caFile);
  const reason = 'provider_certificate_invalid';
  expect(await sendMail(elsewhere, mail)).toEqual({ kind: 'rejected', reason });
});

test('a certificate with a key that is too weak fails the mail at once, and is found before', async () => {
  const { keyFile, certFile } = certificates.makeWeak();
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)];
  const weak = new SMTPServer({ authOptional: true, secure: true, key, cert, ciphers: 'DEFAULT@SECLEVEL=0' });
  weak.on('error', () => {});
  weak.listen(0, '127.0.0.1');
  await once(weak.server, 'listening');
  const { port } = weak.server.address() as AddressInfo;
  const server = { url: `smtps://127.0.0.1:${port}`, from: 'tocsin@example.com', ca: cert.toString() };
  const reason = 'provider_certificate_invalid';
  expect(await findMailFault(server)).toBe(reason);
  expect(await sendMail(server, mail)).toEqual({ kind: 'rejected', reason });
  await new Promise<void>((done) => weak.close(() => done()));
});

test('so it is where the server is encrypted from the first byte', async () => {
  const [untrusted, elsewhere, trusted] = [
    mailServer('127.0.0.1', null, 'smtps'),
    mailServer('localhost', certificates.caFile, 'smtps'),
    mailServer('127.0.0.1', certificates.caFile, 'smtps'),
  ];
  expect(await findMailFault(untrusted)).toBe('provider_certificate_untrusted');
  expect(await sendMail(untrusted, mail)).toEqual({ kind: 'rejected', reason: 'provider_certificate_untrusted' });
  expect(await sendMail(elsewhere, mail)).toEqual({ kind: 'rejected', reason: 'provider_certificate_invalid' });
  expect(await sendMail(trusted, mail)).toMatchObject({ kind: 'accepted' });
});

test('a server that hides its encryption gets no mail where the address requires it', async () => {
  const plain = new SMTPServer({ authOptional: true, hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
  plain.listen(0, '127.0.0.1');
  await once(plain.server, 'listening');
  const { port } = plain.server.address() as AddressInfo;
  const server = { url: `smtp://127.0.0.1:${port}?requireTLS=true`, from: 'tocsin@example.com', ca: null };
  expect(await sendMail(server, mail)).toEqual({ kind: 'rejected', reason: 'provider_without_encryption' });
  expect(await findMailFault(server)).toBe('provider_without_encryption');
  await new Promise<void>((done) => plain.close(() => done()));
});

test('a server that is not encrypted at once fails mail of smtps:// at once, with what to do', async () => {
  const plain = mailServer('127.0.0.1', certificates.caFile);
  const server = { ...plain, url: plain.url.replace('smtp:', 'smtps:') };
  expect(await findMailFault(server)).toBe('provider_encryption_differs');
  expect(await sendMail(server, mail)).toEqual({ kind: 'rejected', reason: 'provider_encryption_differs' });
  expect(reasonOf('provider_encryption_differs')).toContain('smtps://');
});

test('a server that is encrypted at once fails mail of smtp:// at once, too', async () => {
  const encrypted = mailServer('127.0.0.1', certificates.caFile, 'smtps');
  const server = { ...encrypted, url: `${encrypted.url.replace('smtps:', 'smtp:')}?greetingTimeout=100` };
  expect(await findMailFault(server)).toBe('provider_encryption_differs');
  expect(await sendMail(server, mail)).toEqual({ kind: 'rejected', reason: 'provider_encryption_differs' });
});

test('a server that greets nobody is away for now', async () => {
  const silent = createServer(() => {});
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const server = { ...mailServer('127.0.0.1', null), url: `smtp://127.0.0.1:${port}?greetingTimeout=100` };
  silent.on('connection', (socket) => void socket.on('data', () => socket.destroy()));
  expect(await findMailFault(server)).toBeNull();
  await new Promise<void>((done) => void silent.close(() => done()));
});

test('the authority that the operator names is trusted', async () => {
  const trusted = mailServer('127.0.0.1', certificates.caFile);
  expect(await findMailFault(trusted)).toBeNull();
  expect(await sendMail(trusted, mail)).toMatchObject({ kind: 'accepted' });
});

test('a server that is away is no fault of the settings', async () => {
  expect(await findMailFault({ ...mailServer('127.0.0.1', null), url: 'smtp://127.0.0.1:1' })).toBeNull();
});

test('a mail whose process is frozen while it talks to the server leaves only if nobody else has taken it over meanwhile', async () => {
  const server = mailServer('127.0.0.1', certificates.caFile);
  onTestFinished(() => {
    onRecipient = () => {};
  });
  let mayLeave = true;
  onRecipient = () => (mayLeave = false);
  const before = arrived;
  const held = whileMayLeave(
    () => mayLeave,
    () => sendMail(server, mail),
  );
  await expect(held).rejects.toThrow(HeldBackError);
  expect(arrived).toBe(before);
  const sent = whileMayLeave(
    () => true,
    () => sendMail(server, mail),
  );
  expect(await sent).toMatchObject({ kind: 'accepted' });
  expect(arrived).toBe(before + 1);
});
