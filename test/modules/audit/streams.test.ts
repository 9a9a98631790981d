import { execFile } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import {
  createAuditStream,
  deleteAuditStream,
  listAuditStreams,
  updateAuditStream,
} from '#modules/audit/operations/audit_streams.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#test/kit/programs/webhook_receiver.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { streamAuditLogs } from '#workers/stream_audit_logs.ts';

interface Row {
  readonly number: number;
  readonly hash: string;
  readonly action: string;
}

let w: StaffedWorld;
let receiver: WebhookReceiver;
let mail: MailServer;
let folder: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-audit-'));
});
afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  (receiver.received as unknown[]).splice(0);
  receiver.answer(200);
  mail = await startMailServer();
  const post = { smtpUrl: mail.url, mailFrom: 'tocsin@example.com' };
  w = await staffedWorld({ settings: { auditStreamFolder: folder, ...post } });
});

const asOwner = (operation: Parameters<typeof runOperation>[1], input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

const toWebhook = async (fromBeginning = true) =>
  await asOwner(createAuditStream, { kind: 'webhook', address: receiver.url, fromBeginning });

const change = async (name: string) => await w.expectOk('create_team', { name });

const streams = async () => (await asOwner(listAuditStreams, {})).streams;

const sendAll = async () => await streamAuditLogs(w.runtime);

const receivedRows = (): Row[] => receiver.received.flatMap(({ body }) => JSON.parse(body).data.rows as Row[]);

/** Verifies rows with the program of the guide, as somebody who reads it would. */
async function verify(rows: readonly object[]): Promise<{ code: number; text: string }> {
  const guide = readFileSync('src/docs/audit_streams.md', 'utf8');
  const program = /```js\n(.+?)```/s.exec(guide)?.[1] ?? '';
  const [script, file] = [path.join(folder, 'verify.mjs'), path.join(folder, 'rows.jsonl')];
  writeFileSync(script, program);
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, file]);
    return { code: 0, text: stdout };
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, text: stderr };
  }
}

describe('a webhook', () => {
  test('gets every row in order, signed, and the program of the guide finds the chain whole', async () => {
    const { signingSecret } = await toWebhook();
    for (const name of ['A', 'B', 'C']) await change(name);
    await sendAll();
    const [message] = receiver.received;
    const headers = message!.headers as Record<string, string>;
    expect(new Webhook(signingSecret).verify(message!.body, headers)).toMatchObject({ type: 'audit.rows' });
    const rows = receivedRows();
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => index + 1));
    expect(rows.slice(-3).map(({ action }) => action)).toEqual(['create_team', 'create_team', 'create_team']);
    expect(await verify(rows)).toEqual({ code: 0, text: expect.stringContaining(`whole up to row ${rows.length}`) });
    expect(await sendAll()).toBe(false);
    expect(await streams()).toMatchObject([{ behind: 0, failingSince: null }]);
  });

  test('gets only what comes, when it was asked so', async () => {
    await change('Before');
    await toWebhook(false);
    await change('After');
    await sendAll();
    expect(receivedRows().map(({ action }) => action)).toEqual(['create_audit_stream', 'create_team']);
    expect((await verify(receivedRows())).code).toBe(0);
  });

  test('gets what it refused again, and goes on where it was', async () => {
    await toWebhook();
    await sendAll();
    const before = receivedRows().length;
    receiver.answer(503);
    await change('A');
    await sendAll();
    expect(await streams()).toMatchObject([{ behind: 1, lastFailure: 'The place answers with status 503.' }]);
    receiver.answer(200);
    expect(await sendAll()).toBe(false);
    await w.advance({ seconds: 2 });
    await change('B');
    await sendAll();
    const numbers = receivedRows().map(({ number }) => number);
    expect([...new Set(numbers)]).toEqual(Array.from({ length: before + 2 }, (_, index) => index + 1));
    expect(await streams()).toMatchObject([{ behind: 0, lastFailure: null, failingSince: null }]);
  });

  test('that fails for a day is told to owners once, and is tried on', async () => {
    await toWebhook();
    receiver.answer(500);
    await sendAll();
    await w.advance({ hours: 23 });
    await sendAll();
    await w.runUntilIdle();
    expect(mail.mails).toEqual([]);
    await w.advance({ hours: 2 });
    await sendAll();
    await w.runUntilIdle();
    expect(mail.mails.map(({ recipients }) => recipients)).toEqual([[w.owner.email]]);
    await w.advance({ hours: 25 });
    await sendAll();
    await w.runUntilIdle();
    expect(mail.mails).toHaveLength(1);
    receiver.answer(200);
    await w.advance({ minutes: 10 });
    await sendAll();
    expect(await streams()).toMatchObject([{ isOn: true, behind: 0, failingSince: null }]);
  });

  test('gets the log anew when a restore has brought another row in the place of the last', async () => {
    const { stream } = await toWebhook();
    await sendAll();
    const sent = receivedRows().length;
    await w.context.db.sql.run('update audit_streams set sent_number = $2, sent_hash = $3 where id = $1', [
      stream.auditStreamId,
      sent + 5,
      Buffer.alloc(32),
    ]);
    await sendAll();
    await sendAll();
    expect(receivedRows().map(({ number }) => number)).toEqual([
      ...Array.from({ length: sent }, (_, index) => index + 1),
      ...Array.from({ length: sent }, (_, index) => index + 1),
    ]);
  });
});

describe('the program of the guide', () => {
  test.each([
    [
      'changed',
      (rows: Row[]) =>
        rows.map((row, at) =>
          at === 2
            ? { ...row, hashed: [...(row as unknown as { hashed: string[] }).hashed.slice(0, 5), 'delete_team'] }
            : row,
        ),
    ],
    ['missing', (rows: Row[]) => rows.filter((_, at) => at !== 2)],
    ['gone from the log', (rows: Row[]) => rows.map((row, at) => (at === 2 ? { ...row, hashed: null } : row))],
  ])('finds a row that is %s', async (_, tamper) => {
    await toWebhook();
    for (const name of ['A', 'B', 'C']) await change(name);
    await sendAll();
    expect(await verify(tamper(receivedRows()))).toMatchObject({ code: 1, text: expect.stringMatching(/^row 3 /) });
  });
});

describe('a file', () => {
  const linesOf = (): Row[] =>
    readFileSync(path.join(folder, `${w.orgId}.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);

  test('gets each row once, also after a crash that cut a line short or lost the cursor', async () => {
    const { stream } = await asOwner(createAuditStream, { kind: 'file', fromBeginning: true });
    await change('A');
    await sendAll();
    const count = linesOf().length;
    appendFileSync(path.join(folder, `${w.orgId}.jsonl`), '{"number":99,"ha');
    await w.context.db.sql.run('update audit_streams set sent_number = 0, sent_hash = null where id = $1', [
      stream.auditStreamId,
    ]);
    await change('B');
    await sendAll();
    expect(linesOf().map(({ number }) => number)).toEqual(Array.from({ length: count + 1 }, (_, index) => index + 1));
    expect((await verify(linesOf())).code).toBe(0);
  });

  test('goes on after a crash that cut a very long line short', async () => {
    await asOwner(createAuditStream, { kind: 'file', fromBeginning: true });
    await sendAll();
    const count = linesOf().length;
    appendFileSync(path.join(folder, `${w.orgId}.jsonl`), `{"number":99,"before":"${'a'.repeat(5 * 1_024 * 1_024)}`);
    await change('A');
    await sendAll();
    expect(linesOf().map(({ number }) => number)).toEqual(Array.from({ length: count + 1 }, (_, index) => index + 1));
  });

  test('needs a folder that the operator configured', async () => {
    w = await staffedWorld();
    const refused = asOwner(createAuditStream, { kind: 'file', fromBeginning: true });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('setting streams up', () => {
  test('is for owners', async () => {
    const admin = await w.given.user({ role: 'admin' });
    const input = { kind: 'webhook', address: receiver.url, fromBeginning: true };
    const asked = runOperation(w, createAuditStream, memberCaller(w.orgId, admin.userId, 'admin'), input);
    await expect(asked).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('switches a stream off and on without losing a row, and deletes it', async () => {
    const { stream } = await toWebhook();
    const { auditStreamId } = stream;
    await asOwner(updateAuditStream, { auditStreamId, isOn: false });
    await change('A');
    expect(await sendAll()).toBe(false);
    await asOwner(updateAuditStream, { auditStreamId, isOn: true });
    await sendAll();
    expect((await verify(receivedRows())).code).toBe(0);
    expect(receivedRows().map(({ action }) => action)).toContain('create_team');
    await asOwner(deleteAuditStream, { auditStreamId });
    expect(await streams()).toEqual([]);
  });

  test.each(['ftp://example.com', 'http://user:word@example.com', 'nothing', ''])('refuses %j', async (address) => {
    const asked = asOwner(createAuditStream, { kind: 'webhook', address, fromBeginning: true });
    await expect(asked).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
