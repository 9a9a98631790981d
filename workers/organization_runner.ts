import pLimit from 'p-limit';

import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';

interface OfOrganization {
  readonly orgId: Id<'org'>;
}

/** So many of one organization at once: half of the connections that a pager has. */
const CONCURRENCY_OF_ORGANIZATION = 8;

/**
 * Does work organization by organization, side by side: one whose work is slow, because its rows are locked or its
 * provider does not answer, holds up no other.
 */
export class OrganizationRunner<Item extends OfOrganization> {
  readonly #work: (item: Item) => Promise<unknown>;
  readonly #log: Log;
  readonly #busy = new Map<Id<'org'>, Promise<void>>();

  constructor(work: (item: Item) => Promise<unknown>, log: Log) {
    this.#work = work;
    this.#log = log;
  }

  /** Begins the work of each organization that is not busy with earlier work; the rest is due still and is given again. */
  begin(items: readonly Item[]): void {
    for (const [orgId, own] of Map.groupBy(items, (item) => item.orgId)) {
      if (this.#busy.has(orgId)) continue;
      const running = this.#run(own).finally(() => this.#busy.delete(orgId));
      this.#busy.set(orgId, running);
    }
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  /** One that fails does not delay the others. */
  async #run(items: readonly Item[]): Promise<void> {
    await pLimit(CONCURRENCY_OF_ORGANIZATION).map(items, async (item) => {
      await this.#work(item).catch((error: unknown) => {
        this.#log.error({ item, err: messageOf(error) }, 'overdue work failed and will be tried again');
      });
    });
  }
}
