import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { beforeAll, expect, test } from 'vitest';

import { ACCOUNT_OPERATIONS, ACTIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
import { actName, sameActs } from '#modules/audit/decide/act_names.ts';
import { JOBS } from '#storage/queue/jobs.ts';
import { QUEUE_NAMES } from '#kernel/job.ts';
import type { AppContext } from '#entry/compose.ts';
import { pagerRole } from '#workers/pager_role.ts';
import type { Role } from '#workers/run_role.ts';
import { workerRole } from '#workers/worker_role.ts';

const contextOfNothing = {} as AppContext;
const ROOT = path.join(import.meta.dirname, '..');

const filesBelow = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.basename(name, '.ts'));

test('every declared job is in the registry, and has one handler', () => {
  const names = JOBS.map(({ name }) => name).toSorted();
  const declared = readFileSync(path.join(ROOT, 'src/storage/queue/jobs.ts'), 'utf8').matchAll(
    /= define(?:Durable)?Job\(\{\s+name: '(\w+)'/g,
  );
  expect(names).toEqual([...declared].map(([, name = '']) => name).toSorted());
  const roles = [
    workerRole(contextOfNothing, { db: { session: () => ({}) } } as never),
    pagerRole(contextOfNothing, {} as never),
  ];
  const handled = roles.flatMap(({ handlers }) => handlers.map(({ job }) => job.name));
  expect(handled.toSorted()).toEqual(names);
  for (const job of JOBS) expect(QUEUE_NAMES).toContain(job.queue);
});

test('each queue is consumed by one role: pages wait behind nothing that senders can cause', () => {
  const queuesOf = ({ handlers }: Role) => [...new Set(handlers.map(({ job }) => job.queue))].toSorted();
  const worker = queuesOf(workerRole(contextOfNothing, { db: { session: () => ({}) } } as never));
  const pager = queuesOf(pagerRole(contextOfNothing, {} as never));
  expect({ worker, pager }).toEqual({ worker: ['ingest', 'upkeep', 'uploads'], pager: ['paging'] });
});

/** A page or a resource is about one or two kinds of things, each with its list. */
const NAMED_MAX = 4;

/** Files that name operations without knowing anything of them: queries of pages, and the declarations themselves. */
const ASKED_FOR = /^pages\/decide\/\w+_queries\.ts$|\/operations\//;

/** Tables that name operations, and why. */
const NAMES_OPERATIONS: Readonly<Record<string, string>> = {
  'src/modules/audit/decide/act_names.ts': 'says what people call each change, for the audit log',
  'src/modules/configuration/decide/operation_calls.ts': 'calls the operation that makes each change of a file',
  'src/modules/configuration/decide/managed_changes.ts': 'says which operations change what a file manages',
};

test('what is known of an action stands in its declaration: no table beside it is keyed by names of actions', () => {
  const names = new Set([...ACTIONS, ...CONSOLE_OPERATIONS].map(({ name }) => name));
  const tables = ['auth', 'entry', 'ingest', 'kernel', 'modules', 'notify', 'storage'].flatMap((folder) => {
    const files = readdirSync(path.join(ROOT, 'src', folder), { recursive: true, encoding: 'utf8' });
    return files
      .filter((file) => file.endsWith('.ts') && !ASKED_FOR.test(file))
      .map((file) => path.join('src', folder, file));
  });
  const named = (file: string): number => {
    const words = readFileSync(path.join(ROOT, file), 'utf8').matchAll(/\b([a-z]+_[a-z_]+)['":]/g);
    return names.intersection(new Set([...words].map(([, word = '']) => word))).size;
  };
  expect(tables.length).toBeGreaterThan(300);
  expect(tables.filter((file) => named(file) > NAMED_MAX && !(file in NAMES_OPERATIONS))).toEqual([]);
});

test('every action has a file of its name', () => {
  const files = new Set(filesBelow('src/modules'));
  expect(ACTIONS.map(({ name }) => name).filter((name) => !files.has(name))).toEqual([]);
});

/** Lines that are added to the sources as the README of kernel says, each before another one. */
const ADDED = {
  'src/kernel/errors.ts': ['  out_of_stock: 409,', '  payload_too_large: 413,'],
  'src/kernel/config.ts': [
    "  greeting: optionalText('GREETING', '^.{1,9}$', 'a few letters', 'said to newcomers', { unset: 'nothing' }),",
    '  dataDir: setting({',
  ],
} as const;

const PRELOADED = `
  import { registerHooks } from 'node:module';
  const added = ${JSON.stringify(Object.entries(ADDED))};
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      const [, lines] = added.find(([file]) => url.endsWith('/' + file)) ?? [];
      if (lines === undefined) return loaded;
      const [line, before] = lines;
      const source = String(loaded.source).replace(before, () => line + '\\n' + before);
      return { ...loaded, source };
    },
  });`;

const PROGRAM = `
  import { loadConfig } from '#entry/config.ts';
  import { PROBLEM_SCHEMA } from '#entry/http/openapi/problems.ts';
  import { rpcCodeOf } from '#ingest/protocols/otlp_metrics.ts';
  import { AppError } from '#kernel/errors.ts';
  import { readFileSync } from 'node:fs';
  import { withSettingsTable } from './infra/release/settings_table.ts';
  const { status } = new AppError('out_of_stock', 'none is left');
  const isShown = PROBLEM_SCHEMA.properties.code.enum.includes('out_of_stock');
  const readme = withSettingsTable(readFileSync('README.md', 'utf8'));
  const { greeting } = loadConfig({ GREETING: 'hello' });
  console.log(JSON.stringify({ error: [status, isShown, rpcCodeOf('out_of_stock')], readme, greeting }));`;

/** Answers of a process whose sources have the lines. */
let told: { readonly error: unknown; readonly readme: string; readonly greeting: unknown };

beforeAll(() => {
  for (const [file, [, before]] of Object.entries(ADDED)) {
    const parts = readFileSync(path.join(ROOT, file), 'utf8').split(before);
    if (parts.length !== 2) throw new Error(`${file} has not one place for the line`);
  }
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(PRELOADED)}`];
  const args = [...preload, '--input-type=module', '--eval', PROGRAM];
  told = JSON.parse(execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' }));
});

test('an error code takes one line: its status, its place in the reference and in answers to OpenTelemetry follow', () => {
  expect(told.error).toEqual([409, true, 3]);
});

test('a setting takes one entry: its row in the README and its value follow', () => {
  expect(told.readme).toContain('| `GREETING` | nothing | said to newcomers |');
  expect(told.greeting).toBe('hello');
});

/** Names of changes for people, each with the actions and operations that make it. */
const ACTS = readFileSync(path.join(ROOT, 'src/modules/audit/decide/act_names.ts'), 'utf8')
  .matchAll(/^ {2}['"](.+?)['"]:\s+'([a-z_ ]+)',$/gm)
  .map(([, act = '', names = '']) => [act, names.split(' ')] as const)
  .toArray();
const ACT_NAMES = ACTS.map(([act]) => act);

test('each change has one name for people, whichever action or form makes it', () => {
  const changes = [...ACTIONS, ...CONSOLE_OPERATIONS, ...ACCOUNT_OPERATIONS].filter(({ effect }) => effect !== 'read');
  // Revealing a key changes nothing, but is recorded.
  const recorded = [...changes.map(({ name }) => name), 'reveal_ingest_key'];
  expect(ACTS.flatMap(([, names]) => names).toSorted()).toEqual([...new Set(recorded)].toSorted());
  expect(ACTS.filter(([act, names]) => names.some((name) => actName(name) !== act))).toEqual([]);
  expect(sameActs('create_alert_rule')).toEqual(['create_alert_rule', 'add_alert_rule']);
  expect([actName('purge_old_things'), sameActs('purge_old_things')]).toEqual([
    'Purge old things',
    ['purge_old_things'],
  ]);
});

test('buttons, titles and the palette call the making of a thing as the audit log does', () => {
  const nouns = ACT_NAMES.flatMap((act) => /^(?:Create|New|Add) (?:an? )?(.+)$/.exec(act)?.[1] ?? []);
  const others = ['alert rule', 'escalation policy', 'key', 'maintenance window'];
  const label = new RegExp(
    `(?:^ +|['"\`>])((?:Create|New|Start) (?:an? )?(?:${[...nouns, ...others].join('|')}))(?=['"\`<]|$)`,
    'gm',
  );
  const files = readdirSync(path.join(ROOT, 'src/console'), { recursive: true, encoding: 'utf8' });
  const labels = files
    .filter((file) => /\.tsx?$/.test(file))
    .flatMap((file) => [...readFileSync(path.join(ROOT, 'src/console', file), 'utf8').matchAll(label)])
    .map(([, text = '']) => text);
  expect(labels.length).toBeGreaterThan(20);
  expect(labels.filter((text) => !ACT_NAMES.includes(text))).toEqual([]);
});
