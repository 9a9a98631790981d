import { LEARNT_HOURS, usualLimit } from '#modules/exceptions/decide/spike.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import type { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';

interface LearningRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly exceptions: Pick<ExceptionReader, 'countByHour'>;
}

const SERVICES_MAX = 200;
const LEARNT_FOR_HOURS = 1;
const HOUR_MS = 3_600_000;

/**
 * Learns anew, every hour, what services usually have within an hour. Only events that are stored count, so a spike that
 * was held back does not make itself usual.
 */
export async function learnSpikeBaseline({ db, clock, exceptions }: LearningRuntime): Promise<void> {
  const now = clock.now();
  const { exceptionSettings } = storesOf(db.session());
  const due = await exceptionSettings.listToLearn(now.subtract({ hours: LEARNT_FOR_HOURS }), SERVICES_MAX);
  if (due.length === 0) return;
  const hour = now.round({ smallestUnit: 'hour', roundingMode: 'floor' });
  const since = hour.subtract({ hours: LEARNT_HOURS });
  const counted = await exceptions.countByHour(due, since);
  const limits = due.map((serviceId) => ({
    serviceId,
    learntPerHour: usualLimit(hoursOf(counted.get(serviceId) ?? new Map(), hour)),
  }));
  await exceptionSettings.saveLearnt(limits, now);
}

/** Returns the hourly counts from the first hour with events up to the current one. */
function hoursOf(counts: ReadonlyMap<number, number>, running: Temporal.Instant): number[] {
  const firstMs = Math.min(...counts.keys());
  if (!Number.isFinite(firstMs)) return [];
  const length = Math.max(0, Math.round((running.epochMilliseconds - firstMs) / HOUR_MS));
  return Array.from({ length }, (_, index) => counts.get(firstMs + index * HOUR_MS) ?? 0);
}
