import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { expect, onTestFinished, test } from 'vitest';

import { type World, world } from '#test/kit/world.ts';
import { startJobs } from '#workers/crew.ts';
import { crewRuntime } from '#workers/crew_runtime.ts';

const PROGRAM = path.join(import.meta.dirname, 'sentry_sdk_program.ts');

/** Runs a program that uses Sentry's own client; resolves when it has ended, however it did. */
async function runProgram(dsn: string): Promise<string> {
  const run = promisify(execFile)(process.execPath, [PROGRAM], { env: { ...process.env, SENTRY_DSN: dsn } });
  return await run.then(
    ({ stderr }) => stderr,
    ({ stderr }: { stderr: string }) => stderr,
  );
}

async function listen(w: World): Promise<URL> {
  const url = new URL(await w.app.listen({ host: '127.0.0.1', port: 0 }));
  const jobs = startJobs(w.house, crewRuntime(w.house));
  onTestFinished(() => jobs.close());
  return url;
}

test("what a program reports with Sentry's own client becomes exception groups", async () => {
  const w = await world();
  const address = await listen(w);
  const { serviceId, dsn } = await w.given.service();
  expect(await runProgram(dsn.replace('tocsin.test', address.host))).toContain('the machine is on fire');
  while ((await w.house.queue.depths()).ingest.ready > 0) await new Promise((resolve) => setImmediate(resolve));

  const { groups } = await w.expectOk('list_exception_groups', { serviceId });
  expect(groups.map(({ title }: { title: string }) => title).toSorted()).toEqual([
    'Error: the machine is on fire',
    'RangeError: cannot take an order of <*> beans',
    'the grinder is slow',
  ]);
  const orders = groups.find(({ title }: { title: string }) => title.startsWith('RangeError'));
  const group = await w.expectOk('get_exception_group', { groupId: orders.groupId });
  expect(group.recentEvents).toHaveLength(2);
  expect(JSON.stringify(group)).toContain('takeOrder');
});
