import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { expect, test } from 'vitest';

const ROOT = path.join(import.meta.dirname, '../..');

test.each(['api', 'worker', 'pager'])('"tocsin %s" becomes the process that it starts', async (name) => {
  const child = spawn(process.execPath, ['src/entry/cli.ts', name], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: 'node_modules/.cache/node' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, [code, signal]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]);
  expect({ code, signal }).toEqual({ code: 2, signal: null });
  expect(said).toMatch(/^tocsin: set DATABASE_URL, CLICKHOUSE_URL, APP_SECRET/);
});
