import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

/** A process that lives until it is told to stop, and then stops what stands here within this time. */
const program = (second: string, stopMsMax: number) => `
  import { onStop } from '#entry/stop.ts';
  const alive = setInterval(() => {}, 1_000);
  const say = (fields, text) => console.log(JSON.stringify({ ...fields, text }));
  const first = { name: 'first', stop: async () => {} };
  const second = { name: 'second', stop: async () => { ${second} } };
  onStop({ info: say, error: say }, [first, second, { name: 'third', stop: async () => {} }], ${stopMsMax});
  console.log('ready');
`;

/** Returns the output after SIGTERM, how the process ended, and how long that took. */
async function stopped(second: string, stopMsMax: number) {
  const args = ['--input-type=module', '--eval', program(second, stopMsMax)];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.startsWith('ready')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
  });
  const began = performance.now();
  const gone = once(child, 'close');
  child.kill('SIGTERM');
  const [status] = await gone;
  const said = output
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line));
  return { status, said, tookMs: performance.now() - began };
}

const FOR_EVER = 'await new Promise(() => {});';
const STOPPING = { reason: 'SIGTERM', text: 'stopping' };

test('a process that cannot stop says what it gives up, and leaves with status 1', async () => {
  const { status, said, tookMs } = await stopped(FOR_EVER, 200);
  expect(said).toEqual([STOPPING, expect.objectContaining({ gaveUp: ['second', 'third'], afterMs: 200 })]);
  expect(status).toBe(1);
  expect(tookMs).toBeGreaterThanOrEqual(190);
});

test('a process that has stopped leaves with status 0, at once', async () => {
  expect(await stopped('', 60_000)).toMatchObject({ status: 0, said: [STOPPING] });
});

test('a process in which nothing is left to do is not kept alive', async () => {
  expect(await stopped(`clearInterval(alive); ${FOR_EVER}`, 60_000)).toMatchObject({ said: [STOPPING] });
});

test('a process whose stopping fails leaves with status 1', async () => {
  const { status, said } = await stopped(`throw new Error('no')`, 60_000);
  expect(said).toEqual([STOPPING, expect.objectContaining({ text: 'stopping failed' })]);
  expect(status).toBe(1);
});
