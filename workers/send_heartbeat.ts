import { checkPager } from '#entry/foundation.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';

export interface HeartbeatRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

const TIMEOUT_MS = 10_000;

/**
 * Tells an external watchdog that pages leave in time, and sends nothing while they do not: a watchdog that gets no
 * heartbeat alerts people by other means. The address is a secret and is never logged.
 */
export async function sendHeartbeat({ db, clock, log }: HeartbeatRuntime, url: string): Promise<void> {
  const { alarms } = await checkPager({ db, clock });
  if (alarms.length > 0) {
    log.error({ problems: alarms }, 'pages are late, so no heartbeat is sent');
    return;
  }
  try {
    const { address, headers } = withoutCredentials(url);
    const response = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
    await response.body?.cancel();
    if (!response.ok) log.warn({ status: response.status }, 'the heartbeat was refused');
  } catch (error) {
    log.warn({ err: messageOf(error) }, 'the heartbeat could not be sent');
  }
}

/** Moves the user and password of an address into a header: `fetch` takes no address that has them. */
function withoutCredentials(url: string): { address: URL; headers: Record<string, string> } {
  const address = new URL(url);
  const { username, password } = address;
  if (username === '' && password === '') return { address, headers: {} };
  Object.assign(address, { username: '', password: '' });
  const account = [username, password].map(decodeURIComponent).join(':');
  return { address, headers: { authorization: `Basic ${Buffer.from(account).toString('base64')}` } };
}
