import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { beforeAll, expect, test } from 'vitest';

import { CONSOLE_FOLDER, PAGE_FILES } from '#entry/http/console_build.ts';
import { isConsoleFresh } from '#infra/console/freshness.ts';

/** With the page itself, a font, its data and the stream of changes that makes fewer than 15 requests. */
const FILES_MAX = 11;
/** What pages have now, so that none becomes heavier unseen. The goal is 250 kB with data and without the font. */
const BYTES_MAX = 265_000;

/** What is opened at a desk, for which more is loaded. */
const HEAVY: ReadonlySet<string> = new Set([
  '/dashboards/:id',
  '/oncall/policies/new',
  '/oncall/policies/:id/edit',
  '/oncall/schedules/new',
  '/oncall/schedules/:id/edit',
  '/oncall/simulator',
  '/rules/new',
  '/rules/:id',
  '/rules/:id/edit',
  '/settings/agents',
  '/settings/audit',
]);

beforeAll(async () => {
  if (!isConsoleFresh()) await promisify(execFile)(process.execPath, [path.resolve('infra/console/build.ts')]);
}, 180_000);

const compressedBytes = (file: string): number => {
  const whole = path.join(CONSOLE_FOLDER, file);
  return statSync(existsSync(`${whole}.br`) ? `${whole}.br` : whole).size;
};

test('the files of each page are few and light enough for a first visit by phone', () => {
  const files = JSON.parse(readFileSync(path.join(CONSOLE_FOLDER, PAGE_FILES), 'utf8')) as Record<string, string[]>;
  const page = readFileSync(path.join(CONSOLE_FOLDER, 'index.html'), 'utf8');
  const first = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name = '']) => name);
  const weighed = Object.entries(files)
    .filter(([route]) => !HEAVY.has(route))
    .map(([route, own]) => {
      const all = [...new Set([...first, ...own])];
      return { route, files: all.length, bytes: all.reduce((sum, file) => sum + compressedBytes(file), 0) };
    });
  expect(weighed.filter((one) => one.files > FILES_MAX || one.bytes > BYTES_MAX)).toEqual([]);
});
