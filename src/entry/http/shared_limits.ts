import type { FastifyInstance } from 'fastify';

import type { AppContext } from '#entry/compose.ts';
import { messageOf } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import type { Limits } from '#kernel/limit_settings.ts';
import { type RateLimit, type SharedBuckets, SharedLimit } from '#kernel/shared_limit.ts';
import { type Clock, Temporal } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';

/** Limits that all API processes share, so that more processes do not multiply a limit. */
export interface SharedLimits {
  /**
   * Returns the number of live API processes, at least 1. Limits that are not worth a query are divided by it:
   * balancers spread callers over all of them.
   */
  readonly processes: () => number;
  /** Limits as configured. */
  readonly set: Limits;
  /** Opens a shared limit. Pass a clock of its own if it bounds work rather than the times in the data. */
  openLimit(name: string, rate: RateLimit, clock?: Clock): SharedLimit;
}

/** Shard group of the API processes. */
const WORK = 'answer_requests';
const RENEW_MS = 1_000;
const ALIVE = Temporal.Duration.from({ seconds: 4 });

export function openSharedLimits(app: FastifyInstance, { config, db, clock, log }: AppContext): SharedLimits {
  const member = newId('job');
  const members = () => storesOf(db.session()).workers;
  let processes = 1;
  let renewing: Promise<void> | null = null;
  const renew = async (): Promise<void> => {
    const now = clock.now();
    try {
      const works = { works: [WORK], left: [] };
      const others = await members().renew(works, member, { now, aliveUntil: now.add(ALIVE) });
      processes = 1 + others.length;
    } catch (error) {
      log.debug({ err: messageOf(error) }, 'failed to count the API processes; there are as many as before');
    }
  };
  let timer: NodeJS.Timeout | null = null;
  app.addHook('onReady', async () => {
    await renew();
    timer = setInterval(() => void (renewing ??= renew().finally(() => (renewing = null))), RENEW_MS).unref();
  });
  app.addHook('onClose', async () => {
    if (timer !== null) clearInterval(timer);
    await renewing;
    await members()
      .leave([WORK], member)
      .catch(() => {});
  });
  const buckets: SharedBuckets = { take: (...taking) => storesOf(db.session()).tokenBuckets.take(...taking) };
  return {
    processes: () => processes,
    set: config,
    openLimit: (name, rate, limitClock = clock) =>
      new SharedLimit({ name, ...rate, buckets, processes: () => processes, now: () => limitClock.now() }),
  };
}
