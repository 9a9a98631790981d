import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { beforeAll, expect, test } from 'vitest';

import { CONSOLE_FOLDER, PAGE_FILES } from '#entry/http/console_build.ts';
import { isConsoleFresh } from '#infra/console/freshness.ts';

/** Most files of a page. The page itself, a font, its data and the stream of changes make that about 15 requests. */
const FILES_MAX = 9;
/** Present weight of pages, so that none becomes heavier unseen. The goal is 250 kB with data and without the font. */
const BYTES_MAX = 230_000;

/** Pages that are opened at night by phone. An incident with a chart loads two more files. */
const OPENED_AT_NIGHT: ReadonlySet<string> = new Set(['/', '/incidents', '/incidents/:id']);
const NIGHT_FILES_MAX = 4;
const NIGHT_BYTES_MAX = 216_000;

/** Pages that are opened at a desk, with charts or a table of their own. */
const HEAVY: ReadonlySet<string> = new Set([
  '/dashboards/:id',
  '/rules/new',
  '/rules/:id',
  '/rules/:id/edit',
  '/settings/agents',
]);
const HEAVY_FILES_MAX = 12;
const HEAVY_BYTES_MAX = 265_000;

beforeAll(async () => {
  if (!isConsoleFresh()) await promisify(execFile)(process.execPath, [path.resolve('infra/console/build.ts')]);
});

const compressedBytes = (file: string): number => {
  const whole = path.join(CONSOLE_FOLDER, file);
  return statSync(existsSync(`${whole}.br`) ? `${whole}.br` : whole).size;
};

test('the files of each page are few and light enough for a first visit by phone', () => {
  const files = JSON.parse(readFileSync(path.join(CONSOLE_FOLDER, PAGE_FILES), 'utf8')) as Record<string, string[]>;
  const page = readFileSync(path.join(CONSOLE_FOLDER, 'index.html'), 'utf8');
  const first = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, name = '']) => name);
  const weighed = Object.entries(files).map(([route, own]) => {
    const all = [...new Set([...first, ...own])];
    return { route, files: all.length, bytes: all.reduce((sum, file) => sum + compressedBytes(file), 0) };
  });
  const isTooMuch = ({ route, files: count, bytes }: (typeof weighed)[number]): boolean => {
    if (OPENED_AT_NIGHT.has(route)) return count > NIGHT_FILES_MAX || bytes > NIGHT_BYTES_MAX;
    if (HEAVY.has(route)) return count > HEAVY_FILES_MAX || bytes > HEAVY_BYTES_MAX;
    return count > FILES_MAX || bytes > BYTES_MAX;
  };
  expect(weighed.filter(isTooMuch)).toEqual([]);
});
