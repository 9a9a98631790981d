import { EMPTY_TOTALS, restUntil } from '#modules/exceptions/decide/group_counts.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Log } from '#kernel/log.ts';
import { withTimeout } from '#kernel/promises.ts';
import { type Clock, limitBy } from '#kernel/time.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { TakenGroup } from '#modules/exceptions/store/exception_count_store.ts';
import { storesOf } from '#modules/stores.ts';

interface CountingRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly exceptions: Pick<ExceptionReader, 'counter'>;
}

/** Groups that are taken at once. */
const BATCH = 200;
/** A run begins no batch after this time, so that arriving events have the event store to themselves; the rest waits. */
const RUN_MS_MAX = 300;
/** Organizations counted at the same time. */
const CONCURRENCY = 4;

/**
 * Counts the events of groups to which some have come, or whose oldest ones are no longer kept. What is counted is
 * always all that is stored, so a count that fails, or is made twice, is right the next time. Organizations have equal
 * turns, and so have the services of each; while one is being counted, its other groups wait, and nobody else's.
 */
export class ExceptionCounting {
  readonly #runtime: CountingRuntime;
  readonly #limit = new KeyedLimit({ concurrency: CONCURRENCY, concurrencyPerKey: 1 });
  readonly #busy = new Map<Id<'org'>, Promise<void>>();

  constructor(runtime: CountingRuntime) {
    this.#runtime = runtime;
  }

  /** Counts for a while; what takes longer goes on behind it. */
  async run(): Promise<void> {
    const { db, clock } = this.#runtime;
    const runMsMax = limitBy(clock, RUN_MS_MAX);
    const until = performance.now() + runMsMax;
    for (let leftMs = runMsMax; leftMs > 0; leftMs = until - performance.now()) {
      const busy = [...this.#busy.keys()];
      const taken = await storesOf(db.session()).exceptionCounts.takeDue(clock.now(), BATCH, busy);
      if (taken.length === 0) return;
      const begun = [...Map.groupBy(taken, ({ orgId }) => orgId)].map(async ([orgId, groups]) =>
        this.#begin(orgId, groups),
      );
      await withTimeout(Promise.all(begun), Math.max(0, until - performance.now()), () => []);
    }
  }

  /** Resolves once nothing is being counted. */
  async settled(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  async #begin(orgId: Id<'org'>, groups: readonly TakenGroup[]): Promise<void> {
    const counting = this.#limit
      .run(orgId, () => countGroups(this.#runtime, groups))
      .catch((error: unknown) => {
        this.#runtime.log.error(
          { orgId, err: messageOf(error) },
          'exceptions could not be counted; they will be tried again',
        );
      })
      .finally(() => this.#busy.delete(orgId));
    this.#busy.set(orgId, counting);
    await counting;
  }
}

async function countGroups({ db, clock, exceptions }: CountingRuntime, groups: readonly TakenGroup[]): Promise<void> {
  const now = clock.now();
  const whole = await storesOf(db.session()).groupMerges.withMerged(groups);
  const scopes = whole.map(({ id, serviceId, retentionDays, mergedIds }) => ({
    serviceId,
    groupId: id,
    mergedIds,
    keptSince: now.subtract({ hours: 24 * retentionDays }),
  }));
  const startedAt = performance.now();
  const totalsByGroup = await exceptions.counter.count(scopes);
  const tookMs = performance.now() - startedAt;
  const all = [...totalsByGroup.values()].reduce((sum, { events }) => sum + events, 0);
  const counted = groups.map((group) => {
    const totals = totalsByGroup.get(group.id) ?? EMPTY_TOTALS;
    return { group, totals, restsUntil: restUntil(now, (tookMs * totals.events) / Math.max(1, all)) };
  });
  await storesOf(db.session()).exceptionCounts.save(counted, now);
}
