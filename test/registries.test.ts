import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { ACTIONS, CONSOLE_OPERATIONS } from '#actions/registry.ts';
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

/** Files that name operations without knowing anything of them: first reads of pages, and the declarations themselves. */
const ASKED_FOR = /^pages\/decide\/\w+_reads\.ts$|\/operations\//;

/** Tables that name operations, and why. */
const NAMES_OPERATIONS: Readonly<Record<string, string>> = {
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
