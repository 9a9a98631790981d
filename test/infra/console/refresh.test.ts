import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { refreshConsole } from '#infra/console/refresh.ts';

function programOf(text: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-refresh-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'build.mjs');
  writeFileSync(file, text);
  return file;
}

const isFresh = (): boolean => false;

test('tells how far the building of the console is and what came of it, also when it could not be built', async () => {
  const outcomes: string[] = [];
  const report = (outcome: string): void => void outcomes.push(outcome);
  const { signal } = new AbortController();
  await refreshConsole(signal, report, { isFresh, program: programOf(`console.log('1 of 2'); console.log('built')`) });
  await refreshConsole(signal, report, { isFresh, program: programOf(`console.error('no room'); process.exit(1)`) });
  await refreshConsole(signal, report, { isFresh: () => true, program: programOf(`console.log('built again')`) });
  expect(outcomes).toEqual(['1 of 2', 'built', 'The console could not be built: no room']);
});

test('ends quietly when it is called off, so that all else is stopped in order', async () => {
  const outcomes: string[] = [];
  const stopping = new AbortController();
  const program = programOf(`console.log('begun'); setInterval(() => {}, 1_000)`);
  const refreshed = refreshConsole(stopping.signal, (outcome) => void outcomes.push(outcome), { isFresh, program });
  stopping.abort();
  await expect(refreshed).resolves.toBeUndefined();
  expect(outcomes).toEqual([]);
});

test('the console says that memory is short when the system kills its build', async () => {
  const reported: string[] = [];
  const program = programOf(`process.kill(process.pid, 'SIGKILL')`);
  await refreshConsole(new AbortController().signal, (line) => reported.push(line), { isFresh, program });
  expect(reported).toEqual([expect.stringMatching(/no memory is left.*npm run prepare/)]);
});
