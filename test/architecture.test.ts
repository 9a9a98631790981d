import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

/** Which rooms a room may import from, and which packages it may bring in. `*` is any. */
const RULES: Record<string, { rooms: string[]; packages: string[] }> = {
  kernel: {
    rooms: ['kernel'],
    packages: ['typebox', 'temporal-polyfill', 'typeid-js', 'p-limit', 'node:timers/promises'],
  },
  core: { rooms: ['core', 'kernel'], packages: ['re2js', 'typebox', 'node:crypto'] },
  jobs: { rooms: ['jobs', 'kernel'], packages: ['typebox'] },
  storage: {
    rooms: ['storage', 'kernel', 'core', 'jobs'],
    packages: ['@mikro-orm/', 'kysely', 'pg', '@clickhouse/client', 'ioredis', 'bullmq', 'p-limit', 'typebox', 'node:'],
  },
  auth: {
    rooms: ['auth', 'kernel', 'storage'],
    packages: ['oidc-provider', 'lru-cache', 'p-limit', '@zxcvbn-ts/', '@simplewebauthn/server', 'otpauth', 'node:'],
  },
  notify: { rooms: ['notify', 'kernel', 'core'], packages: ['twilio', 'nodemailer', 'web-push', 'tlds', 'node:'] },
  'ingest/protocols': { rooms: ['ingest', 'kernel', 'core'], packages: ['*'] },
  ingest: { rooms: ['ingest', 'kernel', 'core', 'storage', 'auth', 'jobs'], packages: ['node:', 'typebox'] },
  actions: {
    rooms: ['actions', 'kernel', 'core', 'storage', 'jobs', 'auth', 'notify'],
    packages: ['typebox', 'fastest-levenshtein', 'node:util'],
  },
  entry: {
    rooms: ['entry', 'actions', 'auth', 'core', 'ingest', 'jobs', 'kernel', 'notify', 'storage'],
    packages: ['*'],
  },
  workers: {
    rooms: ['workers', 'entry', 'actions', 'auth', 'core', 'ingest', 'jobs', 'kernel', 'notify', 'storage'],
    packages: ['bullmq', 'p-limit', 'typebox', 'node:'],
  },
};

const ROOT = path.join(import.meta.dirname, '..');
const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s[^'";]*?from\s*'([^']+)'|import\(\s*'([^']+)'\s*\)|(?:^|\n)import\s+'([^']+)'/g;

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
}

function importsBelow(folder: string): Import[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.startsWith('console'))
    .flatMap((name) => {
      const file = path.join(folder, name);
      const room = folder === 'workers' ? 'workers' : roomOf(name);
      const text = readFileSync(path.join(ROOT, file), 'utf8');
      return [...text.matchAll(IMPORT)].map((match) => ({
        file,
        room,
        target: match[1] ?? match[2] ?? match[3] ?? '',
      }));
    });
}

function roomOf(name: string): string {
  return name.startsWith('ingest/protocols') ? 'ingest/protocols' : (name.split('/')[0] ?? '');
}

function isAllowed({ file, room, target }: Import): boolean {
  const rule = RULES[room];
  if (rule === undefined) return false;
  if (target.startsWith('.')) return !target.includes('..');
  if (target.startsWith('#')) {
    if (target.startsWith('#entry/http')) return file.startsWith('src/entry');
    return rule.rooms.includes(target.slice(1).split('/')[0] ?? '');
  }
  return rule.packages.some((allowed) => allowed === '*' || target === allowed || target.startsWith(allowed));
}

test('every room imports only from the rooms and packages it may', () => {
  const imports = [...importsBelow('src'), ...importsBelow('workers')];
  expect(imports.length).toBeGreaterThan(100);
  expect(imports.filter((found) => !isAllowed(found)).map(({ file, target }) => `${file} imports ${target}`)).toEqual(
    [],
  );
});

test('the console takes nothing from the server but types of results, and constants of core and kernel', () => {
  const files = readdirSync(path.join(ROOT, 'src/console'), { recursive: true, encoding: 'utf8' });
  const faults = files
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(path.join(ROOT, 'src/console', name), 'utf8');
      return [...text.matchAll(IMPORT)].map(([statement, ...targets]) => {
        const target = targets.find((found) => found !== undefined) ?? '';
        return { name, isType: /^\s*import\s+type\s/.test(statement), target };
      });
    })
    .filter(({ isType, target }) => {
      if (target.startsWith('#console/')) return false;
      return (
        target.includes('..') ||
        (target.startsWith('#') && !/^#(?:core|kernel)\//.test(target) && !(isType && target.startsWith('#actions/')))
      );
    });
  expect(files.length).toBeGreaterThan(50);
  expect(faults).toEqual([]);
});

test('only the settings read the environment', () => {
  const files = ['src', 'workers'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'kernel/config.ts')
      .map((name) => path.join(folder, name)),
  );
  expect(files.filter((file) => readFileSync(path.join(ROOT, file), 'utf8').includes('process.env'))).toEqual([]);
});
