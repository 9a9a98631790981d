import { pagerLateness } from '#core/oncall/pager.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

export interface HeartbeatRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const TIMEOUT_MS = 10_000;

/**
 * Tells an outside watchdog that pages leave in time, and nothing while they do not: a watchdog that hears nothing wakes
 * somebody by another way. The address is a secret of its own and stands in no log.
 */
export async function sendHeartbeat({ db, clock, log }: HeartbeatRuntime, url: string): Promise<void> {
  const now = clock.now();
  const lateness = pagerLateness(await storesOf(db.session()).overdue.find(now), now);
  if (lateness.isDegraded) {
    log.error({ ...lateness }, 'pages are late: no heartbeat is sent');
    return;
  }
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    if (!response.ok) log.warn({ status: response.status }, 'the heartbeat was refused');
  } catch (error) {
    log.warn({ err: messageOf(error) }, 'the heartbeat could not be sent');
  }
}
