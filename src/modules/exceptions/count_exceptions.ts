import { EMPTY_TOTALS, restAfter } from '#modules/exceptions/decide/group_counts.ts';
import type { Clock } from '#kernel/time.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { TakenGroup } from '#modules/exceptions/store/exception_count_store.ts';
import { storesOf } from '#modules/stores.ts';

interface CountingRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly exceptions: Pick<ExceptionReader, 'counter'>;
}

/** Groups counted by one query. */
const BATCH = 200;
/** A run begins no batch after this time, so that arriving events have the event store to themselves; the rest waits. */
const RUN_MS_MAX = 300;

/**
 * Counts the events of groups to which some have come, or whose oldest ones are no longer kept. What is counted is
 * always all that is stored, so a count that fails, or is made twice, is right the next time.
 */
export async function countExceptions(runtime: CountingRuntime): Promise<void> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < RUN_MS_MAX) {
    const taken = await storesOf(runtime.db.session()).exceptionCounts.takeDue(runtime.clock.now(), BATCH);
    if (taken.length === 0) return;
    await countGroups(runtime, taken);
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
    return { group, totals, restsUntil: now.add(restAfter((tookMs * totals.events) / Math.max(1, all))) };
  });
  await storesOf(db.session()).exceptionCounts.save(counted, now);
}
