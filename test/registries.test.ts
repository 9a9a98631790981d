import { readdirSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { ACTIONS } from '#actions/registry.ts';
import { JOBS } from '#jobs/registry.ts';
import { QUEUE_NAMES } from '#kernel/job.ts';
import type { CrewRuntime } from '#workers/crew_runtime.ts';
import { handlersFor } from '#workers/registry.ts';

const ROOT = path.join(import.meta.dirname, '..');

const filesBelow = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => path.basename(name, '.ts'));

test('every job is in the registry under the name of its file, and has one handler', () => {
  const names = JOBS.map(({ name }) => name).toSorted();
  expect(names).toEqual(
    filesBelow('src/jobs')
      .filter((name) => name !== 'registry')
      .toSorted(),
  );
  const handlers = handlersFor({ db: {} } as CrewRuntime).map(({ job }) => job);
  expect(handlers.map(({ name }) => name).toSorted()).toEqual(names);
  for (const job of JOBS) expect(QUEUE_NAMES).toContain(job.queue);
});

test('every action has a file of its name', () => {
  const files = new Set(filesBelow('src/actions'));
  expect(ACTIONS.map(({ name }) => name).filter((name) => !files.has(name))).toEqual([]);
});
