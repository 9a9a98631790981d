import { describe, expect, onTestFinished, test } from 'vitest';

import { countPages, isAllDone, takenAmong } from '#infra/bench/paging/pages.ts';
import { isRedisInstalled, redisService } from '#infra/bench/paging/redis.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { wipeQueue } from '#test/faults/wipe_queue.ts';
import { runningClock } from '#test/kit/clock.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';
import { pace } from '#test/kit/pace.ts';
import { startRoles } from '#test/kit/roles.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const GROUPS = 8;
/** Pairs of an event and a point; more where the machine is slow to wipe. */
const PAIRS_MIN = 240;
const SEND_EVERY_MS = 10;
const WIPE_EVERY_MS = 120;
/** While data is sent, however long each takes. */
const WIPES_MIN = 6;
/** Time that a provider takes to answer, so that messages are being sent when their jobs vanish. */
const PROVIDER_MS = 60;
/** Far more than it takes, for a busy machine. */
const BACK_WITHIN_MS = 60_000;

const backends = [
  { name: 'PostgreSQL', isAvailable: true, startRedis: () => Promise.resolve(undefined) },
  { name: 'Redis', isAvailable: canRunWith('redis-server', isRedisInstalled()), startRedis: startOwnRedis },
];

describe.each(backends.filter(({ isAvailable }) => isAvailable))('on $name', ({ startRedis }) => {
  test(
    'nothing accepted is lost and every page leaves though the queue is wiped again and again',
    { timeout: 180_000 },
    async () => {
      const redisUrl = await startRedis();
      const w = await staffedWorld({ jobs: 'real queue', clock: runningClock(), settings: { redisUrl } });
      w.phone.addFault({ kind: 'slow', byMs: PROVIDER_MS });
      const services = await openPosts(w);
      const roles = startRoles(w.context);
      onTestFinished(() => roles.stop());

      let wipes = 0;
      let isSent = false;
      const sending = sendAll(w, services, () => wipes >= WIPES_MIN).finally(() => (isSent = true));
      for await (const _ of pace(WIPE_EVERY_MS)) {
        await wipeQueue({ sql: w.context.db.sql, redisUrl });
        wipes += 1;
        if (isSent) break;
      }
      expect(wipes).toBeGreaterThanOrEqual(WIPES_MIN);

      const pairs = await sending;
      const wanted = { events: pairs, points: pairs, incidents: GROUPS };
      await expect.poll(() => countArrived(w), { timeout: BACK_WITHIN_MS, interval: 100 }).toEqual(wanted);
      await expect.poll(() => isAllDone(w.context.db), { timeout: BACK_WITHIN_MS, interval: 100 }).toBe(true);
      expect(await countPages(w.context.db, takenAmong(w.phone.requests))).toEqual({
        incidents: GROUPS,
        steps: GROUPS,
        stepsNotFired: 0,
        stepsFiredTwice: 0,
        pages: GROUPS * 2,
        inDigests: 0,
        lost: 0,
        duplicates: 0,
      });
    },
  );
});

async function startOwnRedis(): Promise<string> {
  const port = await findFreePort(0);
  const redis = await redisService(makeFolder(), port).start(new AbortController().signal);
  onTestFinished(() => redis.stop());
  return `redis://127.0.0.1:${port}`;
}

interface Service {
  readonly dsn: string;
  readonly ingestionKey: string;
}

/** One for each group of exceptions, with somebody of its own: nobody gets so many messages that they become a digest. */
async function openPosts(w: StaffedWorld): Promise<Service[]> {
  const teamId = await w.staff.team();
  const services: Service[] = [];
  for (let index = 0; index < GROUPS; index += 1) {
    const { userId } = await w.staff.responder(teamId, `Responder ${index}`);
    const steps = [{ afterMinutes: 0, channels: ['sms', 'call'], targetUserIds: [userId] }];
    const policy = await w.expectOk('create_escalation_policy', { teamId, name: `Policy ${index}`, steps });
    const service = await w.given.service({ name: `service-${index}` });
    const rule = { serviceId: service.serviceId, name: 'New exceptions', kind: 'exception', config: {} };
    await w.expectOk('create_alert_rule', { ...rule, escalationPolicyId: policy.policyId });
    services.push(service);
  }
  return services;
}

/** Sends until that is enough and resolves to how many pairs it sent. Rejects unless everything is accepted. */
async function sendAll({ app }: StaffedWorld, services: readonly Service[], isEnough: () => boolean): Promise<number> {
  const send = async (index: number, { dsn, ingestionKey }: Service): Promise<void> => {
    const { username, pathname } = new URL(dsn);
    const [event, point] = await Promise.all([
      app.inject({
        method: 'POST',
        url: `/api${pathname}/store/?sentry_key=${username}`,
        payload: { message: 'out of beans' },
      }),
      app.inject({
        method: 'POST',
        url: '/api/ingest/metrics',
        headers: { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' },
        payload: { points: [{ name: 'cpu', value: index, labels: { index: String(index) } }] },
      }),
    ]);
    expect([event.statusCode, point.statusCode]).toEqual([200, 202]);
  };
  const sends: Promise<void>[] = [];
  for await (const index of pace(SEND_EVERY_MS)) {
    if (index >= PAIRS_MIN && isEnough()) break;
    const service = services[index % GROUPS];
    if (service !== undefined) sends.push(send(index, service));
  }
  await Promise.all(sends);
  return sends.length;
}

async function countArrived({ context }: StaffedWorld) {
  const query = `select (select toUInt32(count()) from exception_events final) as events,
    (select toUInt32(count()) from metric_points final where metric = 'cpu') as points`;
  const result = await context.clickhouse.query({ query, format: 'JSONEachRow' });
  const [stored] = await result.json<{ events: number; points: number }>();
  const incidents = await context.db.sql.row<{ count: number }>('select count(*)::int as count from incidents');
  return { ...stored, incidents: incidents?.count };
}
