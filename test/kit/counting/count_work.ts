import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';

import { onTestFinished } from 'vitest';

import type { Work } from '#test/kit/counting/work_counter.ts';

/** Prepares work on input of a size, and returns what is counted or timed: synchronous, the same each time it is called. */
export type Workload = (size: number) => () => unknown;

/** Workloads that a file exports, by their subjects. */
export type Workloads = Readonly<Record<string, Workload>>;

/** Part of the workloads of a file: every so many of them, from a place on. */
export interface Part {
  readonly from: number;
  readonly of: number;
}

const WHOLE: Part = { from: 0, of: 1 };

/**
 * Counts the work of each workload of the file at each of the sizes, the same in every run: blocks of JavaScript that
 * run, steps of regular expressions, characters that are searched. The process that counts ends with the test at the latest.
 */
export async function countWork(
  file: string,
  sizes: readonly number[],
  { from, of }: Part = WHOLE,
): Promise<Map<string, number[]>> {
  const program = fileURLToPath(new URL('./counting_process.ts', import.meta.url));
  const counting = fork(program, [file, ...[from, of, ...sizes].map(String)], {
    execArgv: ['--no-opt', '--no-maglev', '--max-old-space-size=1024'],
    env: { ...process.env, NODE_COMPILE_CACHE: undefined, NODE_DISABLE_COMPILE_CACHE: '1' },
    serialization: 'advanced',
  });
  // A regular expression that does not end hears of nothing.
  onTestFinished(() => void counting.kill('SIGKILL'));
  const worksOf = new Map<string, Work[]>();
  counting.on('message', ([name, works]: [string, Work[]]) => worksOf.set(name, works));
  const [[exitCode]] = await Promise.all([once(counting, 'exit'), once(counting, 'disconnect')]);
  if (exitCode !== 0 || worksOf.size === 0) throw new Error(`the workloads of ${file} were not counted`);
  return await withSteps(worksOf);
}

/** Steps of a repeated group are calls within calls, as many as the text is long: a thread with a large stack takes them. */
async function withSteps(worksOf: ReadonlyMap<string, Work[]>): Promise<Map<string, number[]>> {
  const counts = new Map<string, number[]>();
  const worker = new Worker(new URL('./steps_worker.ts', import.meta.url), { resourceLimits: { stackSizeMb: 64 } });
  try {
    for (const [name, works] of worksOf) {
      worker.postMessage(works, []);
      const [totals] = (await once(worker, 'message')) as [number[]];
      counts.set(name, totals);
    }
  } finally {
    await worker.terminate();
  }
  return counts;
}

/** Work that remembering may add. */
const FREE = 500;
const TIMES_MAX = 2.1;

/**
 * The workloads whose work grows faster than their input does: what is added from a size to its double is compared with
 * what was added from half that size on, as bounds that a small input does not reach count for nothing then.
 */
export async function beyondLinear(file: string, size: number, part?: Part): Promise<string[]> {
  const counts = await countWork(file, [size / 2, size, 2 * size], part);
  return [...counts]
    .filter(([, [half = 0, once = 0, twice = Infinity]]) => twice - once > TIMES_MAX * Math.max(0, once - half) + FREE)
    .map(([name, found]) => `${name}: ${found.join(', ')} for ${size / 2}, ${size}, ${2 * size}`);
}

interface Bound {
  readonly size: number;
  /** Work that any input may take. */
  readonly free: number;
  /** Work that each unit of the size may add. */
  readonly each: number;
  readonly part?: Part;
}

/** The workloads that do more than input of this size may take. */
export async function beyondBound(file: string, { size, free, each, part }: Bound): Promise<string[]> {
  const most = free + each * size;
  const counts = await countWork(file, [size], part);
  return [...counts]
    .filter(([, [count = Infinity]]) => count > most)
    .map(([name, [count]]) => `${name}: ${count} of ${most}`);
}
