import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { startNodeChild } from '#infra/embedded/node_child.ts';
import { findProcess, untilGone } from '#infra/embedded/processes.ts';
import { supervise, type Service, type ServiceEvent, type Supervised } from '#infra/embedded/supervisor.ts';
import { type Happenings, happenings } from '#test/kit/when.ts';

const FAST = { firstDelayMs: 10, maxDelayMs: 40, healthyAfterMs: 60_000 };
const READY = `process.send({ ready: true }); process.on('disconnect', () => process.exit());`;
const OBEDIENT = `${READY} process.on('SIGTERM', () => process.exit(0));`;
const STUBBORN = `${READY} process.on('SIGTERM', () => {});`;

let folder: string;
let happened: Happenings<ServiceEvent>;
let supervised: Supervised[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'supervisor-'));
  happened = happenings();
  supervised = [];
});

afterEach(async () => {
  await Promise.all(supervised.map((service) => service.stop(100)));
  rmSync(folder, { recursive: true });
});

function write(program: string): string {
  const entry = path.join(folder, `${crypto.randomUUID()}.mjs`);
  writeFileSync(entry, program);
  return entry;
}

function keep(service: Service, backOff = FAST): Supervised {
  const supervisor = supervise(service, happened.happen, backOff);
  supervised.push(supervisor);
  return supervisor;
}

const programService = (program: string, name = 'program'): Service => {
  const entry = write(program);
  return { name, start: (signal) => startNodeChild({ entry }, signal) };
};

const kinds = () => happened.all.map((event) => event.kind);
const delaysOf = (events: readonly ServiceEvent[]): number[] =>
  events.flatMap((event) => (event.kind === 'died' ? [event.restartInMs] : []));

describe('a supervised service', () => {
  test('is restarted when its process dies', async () => {
    const service = keep(programService(OBEDIENT));
    await service.ready;
    const firstPid = service.pid ?? 0;
    process.kill(firstPid, 'SIGKILL');
    await happened.reach(3);
    expect(kinds()).toEqual(['ready', 'died', 'ready']);
    expect(happened.all[1]).toMatchObject({ how: 'killed by SIGKILL', restartInMs: 10 });
    expect(service.pid).not.toBe(firstPid);
  });

  test('waits longer each time it dies, up to the limit', async () => {
    keep(programService(`${READY} setImmediate(() => process.exit(3));`));
    await happened.hold((events) => delaysOf(events).length > 3);
    expect(delaysOf(happened.all).slice(0, 4)).toEqual([10, 20, 40, 40]);
  });

  test('a service that was healthy for a while is restarted without delay', async () => {
    keep(programService(`${READY} setImmediate(() => process.exit(3));`), { ...FAST, healthyAfterMs: 0 });
    await happened.hold((events) => delaysOf(events).length > 2);
    expect(new Set(delaysOf(happened.all))).toEqual(new Set([10]));
  });

  test('is retried when a later start fails', async () => {
    let starts = 0;
    const good = programService(OBEDIENT);
    const service = keep({
      name: 'moody',
      start: async (signal) => {
        starts += 1;
        if (starts === 2) throw new Error('not in the mood');
        return good.start(signal);
      },
    });
    await service.ready;
    process.kill(service.pid ?? 0, 'SIGKILL');
    await happened.reach(4);
    expect(kinds()).toEqual(['ready', 'died', 'start_failed', 'ready']);
  });

  test('a service whose first start fails says why and is not retried', async () => {
    const service = keep(programService('console.error("no such port"); process.exit(7);'));
    await expect(service.ready).rejects.toThrow('it ended before it was ready (exit code 7)');
    expect(happened.all).toEqual([]);
  });

  test('ends when asked and stays down', async () => {
    const service = keep(programService(OBEDIENT));
    await service.ready;
    const pid = service.pid ?? 0;
    await service.stop(5_000);
    expect(findProcess(pid)).toBeNull();
    expect(kinds()).toEqual(['ready']);
  });

  test('is killed when it does not end in time', async () => {
    const service = keep(programService(STUBBORN));
    await service.ready;
    const pid = service.pid ?? 0;
    await service.stop(50);
    expect(findProcess(pid)).toBeNull();
  });

  test('a start under way is aborted', async () => {
    const service = keep(programService('setInterval(() => {}, 1000);'));
    const outcome = service.ready.catch((error: Error) => error.message);
    await service.stop(5_000);
    expect(await outcome).toMatch(/abort/);
    expect(service.pid).toBeNull();
  });
});

describe('a Node program', () => {
  test('gets its first message and prints into its log', async () => {
    const entry =
      write(`process.once('message', ({ word }) => { console.log(word); process.send({ ready: true, url: 'http://' + word }); });
      process.on('disconnect', () => process.exit());`);
    const log = path.join(folder, 'program.log');
    const child = await startNodeChild({ entry, firstMessage: { word: 'hello' }, log });
    expect(child.message.url).toBe('http://hello');
    await child.stop();
    await expect(startNodeChild({ entry: write('throw new Error("broken");'), log })).rejects.toThrow(/broken/);
  });

  test('ends with the supervisor, however that ends', async () => {
    const entry = write(OBEDIENT);
    const parent =
      write(`import { startNodeChild } from ${JSON.stringify(path.resolve('infra/embedded/node_child.ts'))};
      console.log((await startNodeChild({ entry: ${JSON.stringify(entry)} })).pid);`);
    const supervisor = spawn(process.execPath, [parent], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(supervisor.stdout, 'data')) as [Buffer];
    const pid = Number(line.toString());
    expect(findProcess(pid)).not.toBeNull();
    supervisor.kill('SIGKILL');
    await untilGone(pid, 10);
  });
});
