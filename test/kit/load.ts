import { expect, onTestFinished } from 'vitest';

import type { Config } from '#entry/config.ts';
import { runningClock } from '#test/kit/clock.ts';
import { pace } from '#test/kit/pace.ts';
import { startRoles } from '#test/kit/roles.ts';
import { type World, world } from '#test/kit/world.ts';

/** Far more than it takes. */
export const LOAD_MS_MAX = 90_000;
const SEND_EVERY_MS = 25;
/** Events that are accepted before the fail-over, and after it. */
export const ACCEPTED = 40;

/** A world with both background roles, whose exceptions open incidents. */
export async function watchedWorld(settings: Partial<Config>) {
  const w = await world({ clock: runningClock(), jobs: 'real queue', settings });
  const roles = startRoles(w.context);
  onTestFinished(() => roles.stop());
  const { serviceId, dsn } = await w.given.service();
  const config = { minSeverity: 'error' };
  await w.expectOk('create_alert_rule', { serviceId, name: 'New', kind: 'exception', config });
  return { w, send: startLoad(w, dsn) };
}

/** Sends exceptions of ten types without end; what is refused is not sent again. */
function startLoad(w: World, dsn: string) {
  const { pathname, username } = new URL(dsn);
  const over = new AbortController();
  const accepted: number[] = [];
  const loop = async (): Promise<void> => {
    for await (const number of pace(SEND_EVERY_MS)) {
      if (over.signal.aborted) return;
      const payload = { platform: 'python', exception: { values: [{ type: `Load${number % 10}`, value: 'failed' }] } };
      const answer = await w.app.inject({
        method: 'POST',
        url: `/api${pathname}/store/`,
        headers: { 'x-sentry-auth': `Sentry sentry_version=7, sentry_key=${username}` },
        payload,
      });
      if (answer.statusCode === 200) accepted.push(number);
    }
  };
  const running = loop();
  return {
    /** Resolves when so many more have been accepted. */
    async acceptMore(): Promise<void> {
      const wanted = accepted.length + ACCEPTED;
      await expect.poll(() => accepted.length, { timeout: LOAD_MS_MAX }).toBeGreaterThanOrEqual(wanted);
    },
    async stop(): Promise<number> {
      over.abort();
      await running;
      return accepted.length;
    },
  };
}

/** All that was accepted is grouped, once, and each group has opened its incident, once. */
export async function expectAllThere(w: World, accepted: number): Promise<void> {
  const counted = async () => {
    const { groups } = await w.expectOk('list_exception_groups');
    return (groups as { eventCount: number }[]).reduce((sum, { eventCount }) => sum + eventCount, 0);
  };
  await expect.poll(counted, { timeout: LOAD_MS_MAX }).toBe(accepted);
  const { incidents } = await w.expectOk('list_incidents');
  expect(incidents).toHaveLength(10);
}
