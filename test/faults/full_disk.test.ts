import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import type { FirstRun } from '#entry/first_run.ts';
import { alertOnExceptions, createPagedService, createTeam, openRunningDatabase } from '#infra/bench/paging/fixture.ts';
import { sendException, sendPoint } from '#infra/bench/paging/sender.ts';
import { connect, type Incident } from '#infra/demo/client.ts';
import { makeFolder } from '#test/faults/folder.ts';

const DISK_MEGABYTES = 640;
const POLL = { timeout: 60_000, interval: 200 };

/** A small disk of its own; null on a machine that does not let us make one. */
function makeDisk(): string | null {
  const folder = makeFolder();
  try {
    const options = `size=${DISK_MEGABYTES}m,mode=711`;
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]));
  return folder;
}

/** Everything, as `npm start` runs it. */
async function start(dataDir: string) {
  const child = spawn(process.execPath, ['infra/embedded/start.ts'], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'silent',
      PHONE_DELAY_MS: '5',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    await gone;
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('Ctrl-C stops everything')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code}:\n${output}`)));
  });
  const read = (name: string): unknown => JSON.parse(readFileSync(path.join(dataDir, name), 'utf8'));
  const firstRun = read('first-run.json') as FirstRun;
  const { phoneUrl } = read('running.json') as { phoneUrl: string };
  return { firstRun, phoneUrl, output: () => output };
}

/** Takes every byte that is free now. What is released meanwhile, as a reserve, it leaves alone. */
function fill(file: string): void {
  const { bavail, bsize } = statfsSync(path.dirname(file));
  const block = Buffer.alloc(4096, 1);
  const descriptor = openSync(file, 'w');
  try {
    for (let left = bavail * bsize; left >= block.length; left -= block.length) writeSync(descriptor, block);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  } finally {
    closeSync(descriptor);
  }
}

test('on a full disk people acknowledge and are paged, senders are told to come back, and it recovers by itself', async (context) => {
  const disk = makeDisk();
  if (disk === null) return context.skip('no small disk can be made here');
  const { firstRun, phoneUrl, output } = await start(disk);
  const { baseUrl } = firstRun;
  const client = connect({ ...firstRun, phoneUrl, stop: async () => {} });
  const db = await openRunningDatabase(disk);
  onTestFinished(() => db.close());
  const { teamId, userIds } = await createTeam(db, client, firstRun.organizationId, 1);
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: userIds }];
  const service = await createPagedService(client, teamId, 'checkout', steps);
  await alertOnExceptions(client, service);
  expect(await sendException(service.dsn, 'BeforeItIsFull')).toMatchObject({ status: 200 });
  const incident = await client.waitForIncident(service.serviceId, 'exception', 30_000);
  await client.waitForDelivery(incident.incidentId, 30_000);

  const get = async (address: string) => {
    const response = await fetch(baseUrl + address);
    return { status: response.status, body: await response.json() };
  };
  const point = (value: number) => sendPoint(baseUrl, service.ingestionKey, { name: 'cpu', value });
  const reserve = path.join(disk, 'reserve');
  await expect.poll(() => existsSync(reserve), POLL).toBe(true);
  expect(await get('/healthz')).toMatchObject({ status: 200, body: { disk: { status: 'up' } } });
  expect(await point(1)).toMatchObject({ status: 202 });

  const filler = path.join(disk, 'filler');
  fill(filler);
  await expect.poll(() => existsSync(reserve), POLL).toBe(false);
  const error = expect.stringMatching(
    /the disk of DATA_DIR has \d+ MB left: metrics and exceptions are refused/,
  ) as string;
  await expect
    .poll(() => get('/healthz'), POLL)
    .toMatchObject({
      status: 503,
      body: { status: 'down', stores: { postgres: { status: 'up' } }, disk: { status: 'low', error } },
    });
  // A write that was refused before there was room again counts for ten seconds.
  await expect
    .poll(() => get('/readyz'), POLL)
    .toEqual({ status: 200, body: { ready: true, ingestion: false, because: [error] } });
  await expect.poll(output, POLL).toContain(`The disk of ${disk} is full.`);
  expect(await point(2)).toMatchObject({ status: 503 });
  expect(await sendException(service.dsn, 'WhileItIsFull')).toMatchObject({ status: 503 });
  const { incidentId } = incident;
  await expect
    .poll(() => client.action<Incident>('acknowledge_incident', { incidentId }), POLL)
    .toMatchObject({ status: 'acknowledged' });
  const messages = async () => (await client.action<Incident>('get_incident', { incidentId })).notifications;
  const before = (await messages()).length;
  await client.action('resolve_incident', { incidentId });
  await expect
    .poll(async () => (await messages()).slice(before), POLL)
    .toContainEqual(expect.objectContaining({ status: 'delivered' }));

  rmSync(filler);
  await expect.poll(() => get('/healthz'), POLL).toMatchObject({ status: 200, body: { disk: { status: 'up' } } });
  expect(await get('/readyz')).toEqual({ status: 200, body: { ready: true } });
  expect(await point(3)).toMatchObject({ status: 202 });
  await expect.poll(() => existsSync(reserve), POLL).toBe(true);
  await expect.poll(output, POLL).toContain('has space again. Everything works as before.');
}, 180_000);
