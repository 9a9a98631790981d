import pLimit from 'p-limit';

import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';

interface OfOrganization {
  readonly orgId: Id<'org'>;
}

/** Concurrency per organization: half of the connections that a pager has. */
const CONCURRENCY_PER_ORGANIZATION = 8;

/**
 * Runs work for each organization separately and concurrently: if the work of one is slow, because its rows are locked
 * or its provider does not answer, the others do not wait for it.
 */
export class PerOrganizationQueue<Item extends OfOrganization> {
  readonly #work: (item: Item) => Promise<unknown>;
  readonly #log: Log;
  readonly #busy = new Map<Id<'org'>, Promise<void>>();

  constructor(work: (item: Item) => Promise<unknown>, log: Log) {
    this.#work = work;
    this.#log = log;
  }

  /** Starts the work of each organization that is idle. The rest is still due, and comes with the next call. */
  start(items: readonly Item[]): void {
    for (const [orgId, ofOrganization] of Map.groupBy(items, (item) => item.orgId)) {
      if (this.#busy.has(orgId)) continue;
      const running = this.#run(ofOrganization).finally(() => this.#busy.delete(orgId));
      this.#busy.set(orgId, running);
    }
  }

  /** Resolves once no work is running. */
  async settled(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  /** Runs the items; one that fails does not delay the others. */
  async #run(items: readonly Item[]): Promise<void> {
    await pLimit(CONCURRENCY_PER_ORGANIZATION).map(items, async (item) => {
      await this.#work(item).catch((error: unknown) => {
        this.#log.error({ item, err: messageOf(error) }, 'overdue work failed and will be tried again');
      });
    });
  }
}
