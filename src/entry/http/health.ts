import type { FastifyInstance } from 'fastify';

import { type PagerLateness, pagerLateness } from '#core/oncall/pager.ts';
import type { House } from '#entry/compose.ts';
import { keptForASecond } from '#entry/http/kept_for_a_second.ts';
import { messageOf } from '#kernel/errors.ts';
import { redact } from '#kernel/log.ts';
import { storesOf } from '#storage/postgres/stores.ts';

interface Check {
  readonly status: 'up' | 'down';
  readonly latencyMs: number;
  readonly error?: string;
}

const CHECK_TIMEOUT_MS = 3_000;

/**
 * `/healthz`: the process, each store with its latency, and the pager; 503 when a store is down or pages are late. `/readyz`: whether to send traffic
 * here; 503 while starting or draining. Anybody may ask, so an answer is kept for a second.
 */
export function mountHealth(app: FastifyInstance, house: House): void {
  let isDraining = false;
  app.addHook('preClose', async () => {
    isDraining = true;
  });

  const checkAll = keptForASecond(house.clock, async () => {
    const [postgres, clickhouse, queue] = await Promise.all([
      check(() => house.db.sql.row('select 1')),
      check(() => house.clickhouse.query({ query: 'SELECT 1', format: 'JSONEachRow' }).then((result) => result.json())),
      check(() => house.queue.ping()),
    ]);
    return { postgres, clickhouse, queue: { ...queue, engine: house.queue.engine } };
  });
  const checkPagerOnce = keptForASecond(house.clock, () => checkPager(house));

  app.get('/healthz', async (_request, reply) => {
    const [stores, pager] = await Promise.all([checkAll(), checkPagerOnce()]);
    const isUp = Object.values(stores).every(({ status }) => status === 'up');
    const status = isUp ? pager.status : 'down';
    return reply.code(status === 'up' ? 200 : 503).send({
      status,
      process: { uptimeSeconds: Math.round(process.uptime()), residentBytes: process.memoryUsage.rss() },
      stores,
      pager,
    });
  });

  app.get('/readyz', async (_request, reply) => {
    const isReady = !isDraining && Object.values(await checkAll()).every(({ status }) => status === 'up');
    return reply.code(isReady ? 200 : 503).send({ ready: isReady });
  });
}

async function check(work: () => Promise<unknown>): Promise<Check> {
  const startedAt = performance.now();
  const elapsed = () => Math.round((performance.now() - startedAt) * 10) / 10;
  try {
    await Promise.race([work(), rejectAfter(CHECK_TIMEOUT_MS)]);
    return { status: 'up', latencyMs: elapsed() };
  } catch (error) {
    return { status: 'down', latencyMs: elapsed(), error: redact(messageOf(error)) };
  }
}

interface PagerCheck {
  readonly status: 'up' | 'degraded' | 'down';
  readonly overdueStepSeconds: number | null;
  readonly overdueMessageSeconds: number | null;
}

/** Whether steps fire and messages leave in time, whichever worker should have seen to it. */
async function checkPager(house: House): Promise<PagerCheck> {
  try {
    const { isDegraded, ...overdue } = await Promise.race([findLateness(house), rejectAfter(CHECK_TIMEOUT_MS)]);
    return { status: isDegraded ? 'degraded' : 'up', ...overdue };
  } catch {
    return { status: 'down', overdueStepSeconds: null, overdueMessageSeconds: null };
  }
}

export async function findLateness({ db, clock }: House): Promise<PagerLateness> {
  const now = clock.now();
  return pagerLateness(await storesOf(db.session()).overdue.find(now), now);
}

function rejectAfter(milliseconds: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no answer within ${milliseconds} ms`)), milliseconds).unref();
  });
}
