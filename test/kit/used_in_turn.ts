import { afterAll, inject, onTestFinished } from 'vitest';

import { atEndOfFile } from '#test/kit/at_end_of_file.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether one process runs many files, which use what an earlier one has made. */
    filesShareProcess?: boolean;
  }
}

/** Something that takes long to make, and that can be made as good as new. */
export interface Reusable {
  /** Resolves to false when it cannot be used again. */
  renew(): Promise<boolean>;
  close(): Promise<void>;
}

/** Something that outlives the file that made it, in a process that runs many. */
export interface ReusableByFiles extends Reusable {
  /** Gives up what another file may not see. */
  rest(): Promise<void>;
}

interface Idle {
  readonly key: string;
  readonly item: Reusable;
  /** Null when it is closed behind the file. */
  readonly rest: (() => Promise<void>) | null;
}

/** Number of items that are kept for the rest of a file; each holds connections. */
const IDLE_MAX = 4;

let idle: Idle[] = [];
let isFileWatched = false;

/**
 * Returns what an earlier test of the file used under the same key, made as good as new, else a new one. It is free for the
 * next test once this one is over, and closed behind the last test of the file.
 */
export async function useInTurn<Item extends Reusable>(key: string, make: () => Promise<Item>): Promise<Item> {
  return await useForTest(key, make, () => null);
}

/** The same, but behind the last test of the file it rests until another file wants it. */
export async function useInFiles<Item extends ReusableByFiles>(key: string, make: () => Promise<Item>): Promise<Item> {
  return await useForTest(key, make, restOf);
}

/** The same for all tests of a file: whoever calls it gives it back when they are over. */
export async function useForFile<Item extends ReusableByFiles>(
  key: string,
  make: () => Promise<Item>,
): Promise<{ readonly item: Item; giveBack(): Promise<void> }> {
  const item = (await takeIdle<Item>(key)) ?? (await make());
  return { item, giveBack: () => giveBack({ key, item, rest: restOf(item) }) };
}

/** Opens something at the top level of a file of tests, and closes it behind the last one. */
export async function closedByFile<Item extends { close(): Promise<void> }>(opening: Promise<Item>): Promise<Item> {
  const item = await opening;
  afterAll(() => item.close());
  return item;
}

function restOf(item: ReusableByFiles): Idle['rest'] {
  return () => item.rest();
}

async function useForTest<Item extends Reusable>(
  key: string,
  make: () => Promise<Item>,
  restOf: (item: Item) => Idle['rest'],
): Promise<Item> {
  const item = (await takeIdle<Item>(key)) ?? (await make());
  onTestFinished(({ task }) => {
    // What a test that failed has left running would disturb the next one.
    return task.result?.state === 'fail' ? item.close() : giveBack({ key, item, rest: restOf(item) });
  });
  return item;
}

async function giveBack(used: Idle): Promise<void> {
  if (idle.some(({ item }) => item === used.item)) return;
  if (!isFileWatched) atEndOfFile(endUse);
  isFileWatched = true;
  idle.push(used);
  // Other files want what can rest, whatever this one uses.
  const ofFile = idle.filter(({ rest }) => rest === null);
  const [first] = ofFile;
  if (first === undefined || ofFile.length <= IDLE_MAX) return;
  idle = idle.filter((other) => other !== first);
  await first.item.close();
}

async function takeIdle<Item extends Reusable>(key: string): Promise<Item | null> {
  const candidate = idle.find((other) => other.key === key);
  if (candidate === undefined) return null;
  idle = idle.filter((other) => other !== candidate);
  if (await candidate.item.renew()) return candidate.item as Item;
  await candidate.item.close();
  return null;
}

async function endUse(): Promise<void> {
  isFileWatched = false;
  const used = idle;
  idle = [];
  for (const resting of used) {
    if (resting.rest === null || inject('filesShareProcess') !== true) {
      await resting.item.close();
    } else {
      await resting.rest();
      idle.push(resting);
    }
  }
}
