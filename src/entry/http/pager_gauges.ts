import { Gauge, type Registry } from 'prom-client';

import type { PagerHealth } from '#modules/notifications/decide/pager_health.ts';
import type { AppContext } from '#entry/compose.ts';
import { checkPager } from '#entry/foundation.ts';

/** Registers gauges of what keeps people from being paged in time; NaN while the database is unavailable. */
export function registerPagerGauges(registry: Registry, context: AppContext): void {
  let underWay: Promise<PagerHealth | null> | null = null;
  /** Checks the pager once for all gauges of a scrape. */
  const look = (): Promise<PagerHealth | null> =>
    (underWay ??= checkPager(context)
      .catch(() => null)
      .finally(() => (underWay = null)));
  const register = (name: string, help: string, figure: (health: PagerHealth) => number): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        const health = await look();
        gauge.set(health === null ? NaN : figure(health));
      },
    });
    registry.registerMetric(gauge);
  };
  register(
    'tocsin_pager_problems',
    'How many things keep people from being paged in time; /healthz names them.',
    ({ problems }) => problems.length,
  );
  register(
    'tocsin_unseen_data_seconds',
    'Age of the oldest accepted event or point that no rule has seen.',
    (health) => health.unseenDataSeconds,
  );
  register(
    'tocsin_pager_silent_seconds',
    'How long ago a pager process was last at work.',
    (health) => health.pagerSilentSeconds,
  );
  register(
    'tocsin_worker_silent_seconds',
    'How long every worker process has been frozen or gone; 0 while one is alive.',
    (health) => health.workerSilentSeconds,
  );
  register(
    'tocsin_overdue_step_seconds',
    'How long ago the oldest escalation step that has not fired was due; 0 for none.',
    (health) => health.overdueStepSeconds,
  );
  register(
    'tocsin_overdue_message_seconds',
    'How long ago the oldest message that has not left was due; 0 for none.',
    (health) => health.overdueMessageSeconds,
  );
}
