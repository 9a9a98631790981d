import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { createTransport } from 'nodemailer';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';
import { type AlertedService, alertedServiceIn, alertKeyOf } from '#test/kit/alert_senders.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';

interface Sent {
  readonly to: string | readonly string[];
  readonly subject?: string;
  readonly text?: string;
  readonly from?: string;
}

interface MailedService extends AlertedService {
  /** Returns the reply code of the server, which is 250 for a mail that was taken, and its words. */
  mail(sent: Sent, options?: object): Promise<readonly [code: number, words: string]>;
}

async function settingsOf(): Promise<{ readonly mailInPort: number }> {
  return Object.assign(
    { mailInHost: '127.0.0.1', mailInDomain: 'alerts.example' },
    { mailInPort: await findFreePort(0) },
  );
}

/** The world of all tests that have no settings of their own. */
const shared = await closedByFile(staffedWorld({ keepOpen: true, settings: await settingsOf() }));

async function mailedService(settings?: object): Promise<MailedService> {
  const own = settings && { fresh: true, settings: { ...(await settingsOf()), ...settings } };
  const w = own === undefined ? shared : await staffedWorld(own);
  const { mailInPort } = w.context.config;
  const alerted = await alertedServiceIn(w);
  return {
    ...alerted,
    async mail({ to, subject = '[DOWN] web-1', text = 'Look.', from = 'nagios@db-1.example' }, options = {}) {
      const transport = createTransport({ host: '127.0.0.1', port: mailInPort, ignoreTLS: true, ...options });
      const raw = `From: nagios@db-1.example\r\nSubject: ${subject}\r\n\r\n${text}`;
      try {
        const { response } = await transport.sendMail({ envelope: { from, to: [to].flat() }, raw });
        return [250, response];
      } catch (error) {
        const { responseCode = 0, message } = error as Error & { responseCode?: number };
        return [responseCode, message];
      } finally {
        transport.close();
      }
    },
  };
}

test('a mail to an alert key pages, its recovery resolves, and the name after the plus sign is that of its source', async () => {
  const { w, key, mail, incidents, serviceId } = await mailedService();
  expect((await mail({ to: `${key.toUpperCase()}+Nagios@Alerts.Example` }))[0]).toBe(250);
  expect(await incidents()).toMatchObject([{ title: '[DOWN] web-1', status: 'triggered' }]);
  await w.runUntilIdle();
  expect(w.phone.messages).toHaveLength(1);
  const sources = await w.context.db.sql.rows('select protocol, name from alert_sources where service_id = $1', [
    serviceId,
  ]);
  expect(sources).toEqual([{ protocol: 'mail', name: 'nagios' }]);
  expect((await mail({ to: `${key}+nagios@alerts.example`, subject: '[UP] web-1' }))[0]).toBe(250);
  expect(await incidents()).toMatchObject([{ status: 'resolved' }]);
  // Devices that want no answer send without a return path.
  expect((await mail({ to: `${key}@alerts.example`, subject: '[DOWN] web-2', from: '' }))[0]).toBe(250);
  expect(await incidents()).toHaveLength(2);
});

test('other addresses are refused before the mail is sent, and what is too large, in words that are final', async () => {
  const { key, mail, incidents } = await mailedService();
  const to = `${key}@alerts.example`;
  expect(await mail({ to: `${'k'.repeat(32)}@alerts.example` })).toMatchObject([550, expect.stringContaining('5.1.1')]);
  expect((await mail({ to: 'postmaster@alerts.example' }))[0]).toBe(550);
  expect((await mail({ to: `${key}@elsewhere.example` }))[0]).toBe(550);
  expect((await mail({ to, text: 'x'.repeat(1_100_000) }))[0]).toBe(552);
  expect(await incidents()).toEqual([]);
});

test('a mail to several keys is one alert of each, and what is too many in words that are not final', async () => {
  const { w, key, mail, incidents } = await mailedService({ ingestAlertsPerSecond: 1 });
  const to = `${key}@alerts.example`;
  const other = await w.forOrganization('Other');
  const theirs = await alertKeyOf(other, (await other.given.service({ name: 'theirs' })).serviceId);
  expect((await mail({ to: [to, `${theirs}@alerts.example`] }))[0]).toBe(250);
  expect(await incidents()).toHaveLength(1);
  for (let sent = 0; sent < 9; sent += 1) await mail({ to });
  expect(await mail({ to })).toMatchObject([451, expect.stringContaining('4.7.0')]);
  expect(await incidents()).toHaveLength(1);
});

test('a network holds ten connections, a mail has ten recipients, and a place that is given back is free again', async () => {
  const { w, key } = await mailedService();
  const port = w.context.config.mailInPort;
  const connections = await Promise.all(Array.from({ length: 10 }, () => dial(port)));
  expect(connections.map(({ greeting }) => greeting.slice(0, 3))).toEqual(Array(10).fill('220'));
  expect((await dial(port)).greeting).toMatch(/^421 4\.7\.0 too many connections/);
  const [first, second] = connections;
  await first!.say('EHLO tool.example');
  await first!.say('MAIL FROM:<nagios@db-1.example>');
  const replies: string[] = [];
  for (let name = 0; name < 11; name += 1) replies.push(await first!.say(`RCPT TO:<${key}+n${name}@alerts.example>`));
  expect(replies.map((reply) => reply.slice(0, 3))).toEqual([...Array(10).fill('250'), '452']);
  await second!.end();
  await nextTurn();
  expect((await dial(port)).greeting).toMatch(/^220/);
});

test('of all connections the oldest that has shown no key is closed for another network', async () => {
  const { w, key } = await mailedService();
  const port = w.context.config.mailInPort;
  const shown = await dial(port, '127.0.0.2');
  await shown.say('EHLO tool.example');
  await shown.say('MAIL FROM:<nagios@db-1.example>');
  expect(await shown.say(`RCPT TO:<${key}@alerts.example>`)).toMatch(/^250/);
  const oldest = await dial(port, '127.0.0.2');
  const others = Array.from({ length: 48 }, (_, index) => `127.0.0.${2 + Math.floor((index + 2) / 10)}`);
  await Promise.all(others.map((address) => dial(port, address)));
  expect((await dial(port, '127.0.0.9')).greeting).toMatch(/^220/);
  await oldest.gone;
  expect(await shown.say('NOOP')).toMatch(/^250/);
});

interface Dialled {
  readonly greeting: string;
  /** Returns the last line of the answer to a command. */
  say(command: string): Promise<string>;
  /** Resolves once it is closed from both sides. */
  end(): Promise<void>;
  readonly gone: Promise<unknown>;
}

async function dial(port: number, localAddress = '127.0.0.1'): Promise<Dialled> {
  const socket = connect({ port, host: '127.0.0.1', localAddress }).setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  const gone = once(socket, 'close');
  const answer = async (): Promise<string> => {
    let text = '';
    while (!/^\d{3} .*\r\n$/m.test(text)) text += String((await once(socket, 'data'))[0]);
    return text.trimEnd().split('\r\n').at(-1) ?? '';
  };
  const greeting = await answer();
  return {
    greeting,
    async say(command) {
      socket.write(`${command}\r\n`);
      return await answer();
    },
    async end() {
      socket.end();
      await gone;
    },
    gone,
  };
}

test('while PostgreSQL admits no connections the sender is told to try again, and then one incident opens', async () => {
  const { w, key, mail, incidents } = await mailedService();
  const database = new URL(w.context.config.databaseUrl).pathname.slice(1);
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  const open = async () => void (await admin.query(`alter database ${database} allow_connections true`));
  onTestFinished(async () => {
    await open();
    await admin.end();
  });
  const to = `${key}@alerts.example`;
  await admin.query(`alter database ${database} allow_connections false`);
  await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
  expect((await mail({ to }))[0]).toBe(451);
  expect((await mail({ to: `${'q'.repeat(32)}@alerts.example` }))[0]).toBe(451);
  await open();
  expect((await mail({ to }))[0]).toBe(250);
  expect(await incidents()).toHaveLength(1);
});

test('with a certificate mails come encrypted', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-mail-in-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [mailInCertFile, mailInKeyFile] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  const pair = [
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-noenc',
    '-keyout',
    mailInKeyFile,
    '-out',
    mailInCertFile,
    '-days',
    '2',
  ];
  execFileSync('openssl', ['req', '-x509', ...pair, '-subj', '/CN=alerts.example'], { stdio: 'ignore' });
  const { key, mail, incidents } = await mailedService({ mailInCertFile, mailInKeyFile });
  const secure = { ignoreTLS: false, requireTLS: true, tls: { rejectUnauthorized: false } };
  expect((await mail({ to: `${key}@alerts.example` }, secure))[0]).toBe(250);
  expect(await incidents()).toHaveLength(1);
});
