import type { FastifyInstance } from 'fastify';

import type { Clock } from '#kernel/time.ts';
import type { PagerHealth } from '#modules/notifications/decide/pager_health.ts';
import type { AppContext } from '#entry/compose.ts';
import { checkPager } from '#entry/foundation.ts';
import type { Readiness } from '#entry/process_port.ts';
import { answered, checkClickHouse, checkPostgres, checkQueue, type StoreCheck } from '#entry/store_checks.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { DISK_FULL_TEXT } from '#storage/postgres/faults.ts';

const KEPT_MS = 1_000;

const UNKNOWN = 'it is unknown whether pages are late';

/** Effect on an API process of each of these stores being down. */
const WITHOUT = {
  clickhouse: (reason: string) =>
    `ClickHouse does not work${reason}: what was sent is kept and not shown yet, and rules are not evaluated; incidents can be answered`,
  queue: (reason: string) =>
    `the queue does not work${reason}: what was sent is kept on this disk; incidents can be answered`,
};

/**
 * Mounts the health endpoints. `/livez`: the process answers. `/healthz`: the process, each store with its latency, the
 * disk, and the pager; 503 when a store is down or its disk full or nearly so, or pages are late. `/readyz`: whether to
 * send traffic here, and what does not work; 503 while starting or draining, and when nobody could answer an incident
 * or be paged. The endpoints are public, so an answer is cached for a second. Returns a function that resolves to the
 * answer of `/readyz`.
 */
export function mountHealth(app: FastifyInstance, context: AppContext, disk: DiskSpace): () => Promise<Readiness> {
  let isDraining = false;
  app.addHook('preClose', async () => {
    isDraining = true;
  });

  const checkAll = cacheForASecond(context.clock, async () => {
    const [postgres, clickhouse, queue] = await Promise.all([
      checkPostgres(context.db, context.clock),
      checkClickHouse(context.clickhouse, context.clock),
      checkQueue(context.queue, context.clock),
    ]);
    return { postgres, clickhouse, queue: { ...queue, engine: context.queue.engine } };
  });
  const readPager = cacheForASecond(context.clock, () => pagerState(context));

  app.get('/livez', async () => ({ live: true }));

  app.get('/healthz', async (_request, reply) => {
    const [stores, { unreadyBecause: _, rulesBehindBecause: __, alarms: ___, ...pager }] = await Promise.all([
      checkAll(),
      readPager(),
    ]);
    const isUp = Object.values(stores).every(({ status }) => status === 'up') && disk.fault === null;
    const status = isUp ? pager.status : 'down';
    return reply
      .code(status === 'up' ? 200 : 503)
      .send({
        status,
        process: { uptimeSeconds: Math.round(process.uptime()), residentBytes: process.memoryUsage.rss() },
        stores,
        disk: {
          status: disk.fault === null ? 'up' : 'low',
          freeBytes: disk.freeBytes,
          ...(disk.fault !== null && { error: disk.fault }),
        },
        pager,
      });
  });

  const readiness = async (): Promise<Readiness & { degraded?: true; ingestion?: false }> => {
    const [{ postgres, clickhouse, queue }, pager] = await Promise.all([checkAll(), readPager()]);
    const unready = [
      ...(isDraining ? ['this process is stopping'] : []),
      ...(context.db.isFull() ? [DISK_FULL_TEXT] : []),
      ...(postgres.status === 'up' ? [] : [`postgres is down${reasonOf(postgres)}`]),
      ...pager.unreadyBecause,
      // Without ClickHouse, or the queue, rules are late in every process.
      ...(clickhouse.status === 'up' && queue.status === 'up' ? pager.rulesBehindBecause : []),
    ];
    if (unready.length > 0) return { ready: false, because: unready };
    const degraded = [
      ...(clickhouse.status === 'up' ? [] : [WITHOUT.clickhouse(reasonOf(clickhouse))]),
      ...(queue.status === 'up' ? [] : [WITHOUT.queue(reasonOf(queue))]),
    ];
    const because = [...degraded, ...(disk.fault === null ? [] : [disk.fault])];
    return {
      ready: true,
      ...(degraded.length > 0 && { degraded: true }),
      ...(disk.fault !== null && { ingestion: false }),
      ...(because.length > 0 && { because }),
    };
  };
  app.get('/readyz', async (_request, reply) => {
    const answer = await readiness();
    return reply.code(answer.ready ? 200 : 503).send(answer);
  });
  return readiness;
}

const reasonOf = ({ error }: StoreCheck): string => (error === undefined ? '' : ` (${error})`);

type Sentences = 'problems' | 'alarms' | 'unreadyBecause' | 'rulesBehindBecause';

type PagerState = Pick<PagerHealth, Sentences> & { readonly status: 'up' | 'degraded' | 'down' } & {
  readonly [Figure in Exclude<keyof PagerHealth, Sentences>]: number | null;
};

/** Returns whether accepted data pages people in time, whichever process is responsible for it. */
async function pagerState(context: AppContext): Promise<PagerState> {
  try {
    const health = await answered(checkPager(context), context.clock);
    return { status: health.problems.length === 0 ? 'up' : 'degraded', ...health };
  } catch {
    return {
      status: 'down',
      unseenDataSeconds: null,
      overdueStepSeconds: null,
      overdueMessageSeconds: null,
      pagerSilentSeconds: null,
      workerSilentSeconds: null,
      problems: [UNKNOWN],
      alarms: [UNKNOWN],
      unreadyBecause: [UNKNOWN],
      rulesBehindBecause: [],
    };
  }
}

/**
 * Runs the work at most once a second, however many callers there are: callers that come while it is under way, or
 * within a second of it, share its result. A failure is not cached.
 */
export function cacheForASecond<Result>(clock: Clock, work: () => Promise<Result>): () => Promise<Result> {
  let kept: { readonly outcome: Promise<Result>; readonly at: number; readonly clockAt: number } | null = null;
  return async () => {
    const at = performance.now();
    const clockAt = clock.now().epochMilliseconds;
    if (kept !== null && at - kept.at < KEPT_MS && Math.abs(clockAt - kept.clockAt) < KEPT_MS)
      return await kept.outcome;
    const outcome = work();
    const entry = { outcome, at, clockAt };
    kept = entry;
    try {
      return await outcome;
    } catch (error) {
      if (kept === entry) kept = null;
      throw error;
    }
  };
}
