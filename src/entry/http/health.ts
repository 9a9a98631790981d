import type { FastifyInstance } from 'fastify';

import type { PagerHealth } from '#core/oncall/pager_health.ts';
import type { AppContext } from '#entry/compose.ts';
import { cacheForASecond } from '#entry/http/cache_for_a_second.ts';
import { checkPager } from '#entry/pager_check.ts';
import type { DiskSpace } from '#ingest/disk_space.ts';
import { messageOf } from '#kernel/errors.ts';
import { redact } from '#kernel/log.ts';
import { withTimeout } from '#kernel/with_timeout.ts';
import { DISK_FULL_TEXT } from '#storage/postgres/faults.ts';

interface Check {
  readonly status: 'up' | 'down';
  readonly latencyMs: number;
  readonly error?: string;
}

const CHECK_TIMEOUT_MS = 3_000;
const UNKNOWN = 'it is unknown whether pages are late';

/**
 * `/healthz`: the process, each store with its latency, the disk, and the pager; 503 when a store is down or its disk full
 * or nearly so, or pages are late. `/readyz`: whether to send traffic here, and if not, why; 503 also while starting or
 * draining. With `ingestion: false` it takes changes but no data. Anybody may ask, so an answer is kept for a second.
 */
export function mountHealth(app: FastifyInstance, context: AppContext, disk: DiskSpace): void {
  let isDraining = false;
  app.addHook('preClose', async () => {
    isDraining = true;
  });

  const checkAll = cacheForASecond(context.clock, async () => {
    const [postgres, clickhouse, queue] = await Promise.all([
      check(() => askDatabase(context)),
      check(() =>
        context.clickhouse.query({ query: 'SELECT 1', format: 'JSONEachRow' }).then((result) => result.json()),
      ),
      check(() => context.queue.ping()),
    ]);
    return { postgres, clickhouse, queue: { ...queue, engine: context.queue.engine } };
  });
  const readPager = cacheForASecond(context.clock, () => pagerState(context));

  app.get('/healthz', async (_request, reply) => {
    const [stores, { unreadyBecause: _, ...pager }] = await Promise.all([checkAll(), readPager()]);
    const isUp = Object.values(stores).every(({ status }) => status === 'up') && disk.fault === null;
    const status = isUp ? pager.status : 'down';
    return reply.code(status === 'up' ? 200 : 503).send({
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

  app.get('/readyz', async (_request, reply) => {
    const [stores, pager] = await Promise.all([checkAll(), readPager()]);
    const because = [
      ...(isDraining ? ['this process is stopping'] : []),
      ...(context.db.isFull() ? [DISK_FULL_TEXT] : []),
      ...Object.entries(stores).flatMap(([name, { status }]) => (status === 'up' ? [] : [`${name} is ${status}`])),
      ...pager.unreadyBecause,
    ];
    if (because.length > 0) return reply.code(503).send({ ready: false, because });
    return reply.send(disk.fault === null ? { ready: true } : { ready: true, ingestion: false, because: [disk.fault] });
  });
}

/** A database whose disk is full answers questions, and refuses every change. */
async function askDatabase({ db }: AppContext): Promise<void> {
  await db.sql.row('select 1');
  if (db.isFull()) throw new Error(DISK_FULL_TEXT);
}

async function check(work: () => Promise<unknown>): Promise<Check> {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 10) / 10;
  try {
    await withTimeout(work(), CHECK_TIMEOUT_MS, noAnswer);
    return { status: 'up', latencyMs: elapsed() };
  } catch (error) {
    return { status: 'down', latencyMs: elapsed(), error: redact(messageOf(error)) };
  }
}

type PagerState = Pick<PagerHealth, 'problems' | 'unreadyBecause'> & {
  readonly status: 'up' | 'degraded' | 'down';
} & { readonly [Figure in Exclude<keyof PagerHealth, 'problems' | 'unreadyBecause'>]: number | null };

/** Whether what is accepted pages people in time, whichever process should have seen to it. */
async function pagerState(context: AppContext): Promise<PagerState> {
  try {
    const health = await withTimeout(checkPager(context), CHECK_TIMEOUT_MS, noAnswer);
    return { status: health.problems.length === 0 ? 'up' : 'degraded', ...health };
  } catch {
    return {
      status: 'down',
      unseenDataSeconds: null,
      overdueStepSeconds: null,
      overdueMessageSeconds: null,
      pagerSilentSeconds: null,
      problems: [UNKNOWN],
      unreadyBecause: [UNKNOWN],
    };
  }
}

function noAnswer(): never {
  throw new Error(`no answer within ${CHECK_TIMEOUT_MS} ms`);
}
