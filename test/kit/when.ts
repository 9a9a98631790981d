import { onTestFinished, vi } from 'vitest';

import { withTimeout } from '#kernel/promises.ts';
import { PeriodicWrite } from '#ingest/periodic_write.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import type { Database } from '#storage/postgres/database.ts';

/**
 * Resolves once ClickHouse has carried out all deletions that were ordered from it, which the product does not wait for: it
 * carries out one after another, and tells when a last one, of nothing, is done.
 */
export async function whenDeleted({ clickhouse }: { readonly clickhouse: ClickHouseClient }): Promise<void> {
  const { layout, database } = clickhouse;
  const result = await clickhouse.query({
    query: `SELECT DISTINCT table FROM ${layout.system('mutations')} WHERE database = '${database}' AND NOT is_done`,
    format: 'JSONCompactEachRow',
  });
  for (const [table] of await result.json<[string]>()) {
    // Where ClickHouse finds the parts in use, it looks again ten seconds later, or when it is told to begin.
    const begin = () => clickhouse.command({ query: `SYSTEM START MERGES ${table}${layout.onCluster}` });
    const again = setInterval(() => void begin().catch(() => {}), LOOK_AGAIN_MS);
    try {
      await clickhouse.command({
        query: `ALTER TABLE ${table}${layout.onCluster} DELETE WHERE 0`,
        clickhouse_settings: { mutations_sync: '2' },
      });
    } finally {
      clearInterval(again);
    }
  }
}

const LOOK_AGAIN_MS = 500;

/**
 * Watches the transactions of a world from now on; returns what resolves once none is under way: for what is written behind
 * an answer.
 */
export function watchTransactions({ db }: { readonly db: Database }): () => Promise<void> {
  const open = new Set<Promise<unknown>>();
  const { transaction } = db;
  const watched: typeof transaction = async (...parameters) => {
    const running = transaction(...parameters);
    const ended: Promise<unknown> = running.then(
      () => open.delete(ended),
      () => open.delete(ended),
    );
    open.add(ended);
    return await running;
  };
  Object.assign(db, { transaction: watched });
  onTestFinished(() => void Object.assign(db, { transaction }));
  return async () => {
    while (open.size > 0) await Promise.all(open);
  };
}

/** Lets so much time pass by faked timers of intervals, and resolves once all is written that was due. */
export async function whenWritten(milliseconds: number): Promise<void> {
  const writes = vi.spyOn(PeriodicWrite.prototype, 'write');
  vi.advanceTimersByTime(milliseconds);
  await Promise.all(writes.mock.results.map(({ value }) => value));
  writes.mockRestore();
}

let isHurried = false;

/**
 * Has whatever begins to wait for a time in this process wait a tenth of it, until the test is over: for what looks or
 * tries again from time to time, where the length of the pause is not what is tested. Limits by `withTimeout` stay as they
 * are, since a busy machine may need them. A world is opened before, as others use it afterwards.
 */
export function hurry(): void {
  if (isHurried) return;
  isHurried = true;
  const { setTimeout: once, setInterval: often } = globalThis;
  vi.stubGlobal('setTimeout', (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    once(work, isOfLimit() ? ms : ms / 10, ...args),
  );
  vi.stubGlobal('setInterval', (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    often(work, ms / 10, ...args),
  );
  onTestFinished(() => {
    isHurried = false;
    vi.unstubAllGlobals();
  });
}

/** Tells whether a timer that is being started is the one of `withTimeout`. */
const isOfLimit = (): boolean => new Error('a timer').stack?.includes(withTimeout.name) === true;

/** Things that happen in this process: what lets them happen tells of each, so that nobody has to look again and again. */
export interface Happenings<T> {
  /** All of them, the first first. */
  readonly all: readonly T[];
  happen(what: T): void;
  /** Resolves once so many have happened. */
  reach(count: number): Promise<void>;
  /** Resolves once it holds of those that have happened. */
  hold(isSo: (all: readonly T[]) => boolean): Promise<void>;
}

export function happenings<T = void>(): Happenings<T> {
  const all: T[] = [];
  const waiting = new Set<{ readonly isSo: (all: readonly T[]) => boolean; readonly resolve: () => void }>();
  const hold: Happenings<T>['hold'] = (isSo) =>
    new Promise((resolve) => {
      if (isSo(all)) resolve();
      else waiting.add({ isSo, resolve });
    });
  return {
    all,
    happen(what) {
      all.push(what);
      for (const entry of waiting) {
        if (!entry.isSo(all)) continue;
        waiting.delete(entry);
        entry.resolve();
      }
    },
    hold,
    reach: (count) => hold(({ length }) => length >= count),
  };
}
