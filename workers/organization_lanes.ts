import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';

interface OfOrganization {
  readonly orgId: Id<'org'>;
}

/** So many of one organization at once: half of the connections that a pager has. */
const OF_ORGANIZATION_AT_ONCE = 8;

/**
 * Does work organization by organization, side by side: one whose work is slow, because its rows are locked or its
 * provider does not answer, holds up no other.
 */
export class OrganizationLanes<Item extends OfOrganization> {
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
      const lane = this.#runThrough(own).finally(() => this.#busy.delete(orgId));
      this.#busy.set(orgId, lane);
    }
  }

  /** Resolves once nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  /** One that fails holds up no other. */
  async #runThrough(items: readonly Item[]): Promise<void> {
    const rest = items.values();
    const runOn = async (): Promise<void> => {
      for (const item of rest) {
        await this.#work(item).catch((error: unknown) => {
          this.#log.error({ item, err: messageOf(error) }, 'overdue work failed and will be tried again');
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(OF_ORGANIZATION_AT_ONCE, items.length) }, runOn));
  }
}
