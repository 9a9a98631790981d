import { onTestFinished } from 'vitest';

import { atEndOfFile } from '#test/kit/at_end_of_file.ts';

/** Something that takes long to make, and that can be made as good as new. */
export interface Reusable {
  /** Resolves to false when it cannot be used again. */
  renew(): Promise<boolean>;
  close(): Promise<void>;
}

interface Idle {
  readonly key: string;
  readonly item: Reusable;
}

/** Each holds connections. */
const IDLE_MAX = 4;

let idle: Idle[] = [];

/**
 * Returns what an earlier test of this file used under the same key, made as good as new, else a new one. It is free for
 * the next test once this one is over, and closed behind the last test of the file.
 */
export async function useInTurn<Item extends Reusable>(key: string, make: () => Promise<Item>): Promise<Item> {
  const item = (await takeIdle<Item>(key)) ?? (await make());
  onTestFinished(async ({ task }) => {
    // What a test that failed has left running would disturb the next one.
    if (task.result?.state === 'fail') return await item.close();
    if (idle.length === 0) atEndOfFile(closeIdle);
    idle.push({ key, item });
    if (idle.length > IDLE_MAX) await idle.shift()?.item.close();
  });
  return item;
}

async function takeIdle<Item extends Reusable>(key: string): Promise<Item | null> {
  const found = idle.find((one) => one.key === key);
  if (found === undefined) return null;
  idle = idle.filter((one) => one !== found);
  if (await found.item.renew()) return found.item as Item;
  await found.item.close();
  return null;
}

async function closeIdle(): Promise<void> {
  for (const { item } of idle.splice(0)) await item.close();
}
