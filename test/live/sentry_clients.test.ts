import { randomBytes } from 'node:crypto';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { moveIn } from '#modules/moving_in/move_in.ts';
import { type LiveWorld, liveWorld, overQuota } from '#test/live/live_world.ts';
import { type Ended, run } from '#test/live/program.ts';
import { type Client, CLIENTS, type Line } from '#test/live/sentry_clients.ts';

type Service = Awaited<ReturnType<LiveWorld['given']['service']>>;

interface Group {
  readonly eventCount: number;
  readonly severity: string;
  readonly title: string;
  readonly culprit: string | null;
}

let w: LiveWorld;
beforeAll(async () => {
  w = await liveWorld({ keepOpen: true });
});
afterAll(() => w.close());

const installed = CLIENTS.filter(({ canRun }) => canRun);

/** Runs the client's program and says how many events it reported and how each of its requests for them was answered. */
async function tell(client: Client, { dsn }: Service, story: 'report' | 'insist') {
  const before = w.arrivals.length;
  const ended = await run(client.command, { ...client.env, SENTRY_DSN: w.reachable(dsn), STORY: story });
  const path = `/api/${new URL(dsn).pathname.slice(1)}/${client.door}/`;
  // The last answers to the client before may have ended since.
  const arrivals = w.arrivals.slice(before).filter((arrival) => arrival.path === path);
  return { sent: sentBy(ended), statuses: arrivals.map(({ status }) => status) };
}

function sentBy({ stdout, stderr }: Ended): number {
  const sent = /^sent (\d+)$/m.exec(stdout)?.[1];
  if (sent === undefined) throw new Error(`the program did not come to its end: ${stderr}`);
  return Number(sent);
}

async function wallOf({ serviceId }: Service): Promise<{ lines: Line[]; idOf: (title: RegExp) => string }> {
  const { groups } = await w.expectOk('list_exception_groups', { serviceId });
  const lines = groups.map(({ eventCount, severity, title, culprit }: Group): Line => {
    return [eventCount, severity, title, culprit];
  });
  return {
    lines: lines.toSorted(([, , a]: Line, [, , b]: Line) => (a < b ? -1 : 1)),
    idOf: (title) => groups.find((group: Group) => title.test(group.title)).groupId,
  };
}

test.each(installed)(
  'everything that $name reports arrives with a readable title',
  { timeout: 120_000 },
  async (client) => {
    const service = await w.given.service();
    const { sent, statuses } = await tell(client, service, 'report');
    expect(new Set(statuses)).toEqual(new Set([200]));
    await w.settle();

    const { lines, idOf } = await wallOf(service);
    expect(lines).toEqual(client.wall.toSorted(([, , a], [, , b]) => (a < b ? -1 : 1)));
    expect(lines.reduce((sum, [events]) => sum + events, 0)).toBe(sent);

    const group = await w.expectOk('get_exception_group', { groupId: idOf(/order of <\*> beans/) });
    expect(group).toMatchObject({
      eventCount: 2,
      userCount: 1,
      severity: 'error',
      pattern: expect.stringMatching(/<\*>/),
    });
    expect(group.triage).toMatchObject({
      isNew: true,
      isRegression: false,
      environments: [{ value: 'staging', count: 2 }],
      releases: { first: 'shop@1.4.2', last: 'shop@1.4.2' },
      topTags: [{ key: 'region', values: [{ value: 'eu', count: 2 }] }],
      culprit: { inApp: true, line: expect.any(Number) },
      grouping: { parts: client.chain.map(() => ({ strategy: 'exception' })) },
    });
    expect(group.recentEvents).toHaveLength(2);
    const [event] = group.recentEvents;
    expect(event).toMatchObject({
      environment: 'staging',
      release: 'shop@1.4.2',
      user: { id: '42', email: 'bob@shop.test' },
      tags: { region: 'eu' },
      sdk: client.sdk,
      exceptions: client.chain.map((type) => ({ type })),
    });
    expect(event.breadcrumbs).toContainEqual(
      expect.objectContaining({ category: 'till', message: 'order opened', data: { password: '[filtered]' } }),
    );
    const frames = event.exceptions.flatMap((exception: { frames: object[] }) => exception.frames);
    expect(frames).toContainEqual(
      expect.objectContaining({
        inApp: true,
        line: expect.any(Number),
        code: expect.objectContaining({ line: expect.stringMatching(/^.*\S$/) }),
      }),
    );

    const { triage } = await w.expectOk('get_exception_group', { groupId: idOf(/the beans are/) });
    expect(triage.grouping.parts).toMatchObject([{ strategy: 'fingerprint', lines: ['beans'] }]);
  },
);

test.each(installed)('$name, refused, does not storm', { timeout: 120_000 }, async (client) => {
  const service = await w.given.service();
  const { serviceId } = service;
  const expectCalm = async (status: number): Promise<void> => {
    const { sent, statuses } = await tell(client, service, 'insist');
    expect(sent).toBe(10);
    const refused = statuses.filter((answered) => answered === status).length;
    expect(refused).toBeGreaterThan(0);
    // A session may come before the event, and be refused as well.
    expect(refused, JSON.stringify(statuses)).toBeLessThanOrEqual(client.quietedBy.includes(status) ? 2 : sent);
    expect(statuses.length, 'reports of what was not sent may follow').toBeLessThanOrEqual(2 * sent);
  };
  // An address that brought many bad keys is braked for a minute.
  w.clock.advance({ seconds: 61 });
  w.breakQueue(overQuota(60));
  await expectCalm(429);
  w.breakQueue(null);
  await w.expectOk('disable_capability', { serviceId, capability: 'exceptions' });
  w.clock.advance({ seconds: 2 });
  await expectCalm(403);
  await w.expectOk('enable_capability', { serviceId, capability: 'exceptions' });
  await w.expectOk('rotate_ingest_key', { serviceId });
  w.clock.advance({ seconds: 2 });
  await expectCalm(401);
});

test.each(installed.filter(({ name }) => /@sentry\/node 11|Python/.test(name)))(
  'a project of Sentry that moved in takes what $name sends, with nothing but the host of its DSN changed',
  { timeout: 120_000 },
  async (client) => {
    const [publicKey, otherKey] = [randomBytes(16).toString('hex'), randomBytes(16).toString('hex')];
    const number = 100_000 + CLIENTS.indexOf(client);
    const row = (model: string, pk: number, fields: object) => ({ model: `sentry.${model}`, pk, fields });
    const key = (id: number, text: string) =>
      row('projectkey', id, { project: number, label: `Key ${id}`, public_key: text, status: 0 });
    const rows = [row('organization', 1, { name: 'Acme' }), row('project', number, { name: client.name })];
    const documents = [{ path: 'export.json', value: [...rows, key(9, publicKey), key(10, otherKey)] }];
    const time = { now: w.clock.now().epochMilliseconds, proofFrom: null };
    const { file } = moveIn(MOVE_IN_TOOLS['sentry']!, documents, [], time);
    const origin = { requestId: 'req_moved', address: null };
    const request = { text: file, fileName: 'sentry.yaml', prune: false };
    await applyConfiguration(w.context.actions, operatorIn(w.orgId), origin, request);
    const { services } = await w.expectOk('list_services', {});
    const moved = services.find((service: { name: string }) => service.name === client.name);
    const before = `https://${publicKey}@sentry.example.com/${number}`;
    const dsn = before.replace('https://', 'http://').replace('sentry.example.com', w.url.host);
    expect(new URL((await w.expectOk('get_service', { serviceId: moved.serviceId })).dsn)).toMatchObject({
      username: publicKey,
      pathname: `/${number}`,
    });
    // Programs of a project use any of its keys.
    let sent = 0;
    for (const key of [publicKey, otherKey]) {
      const env = { ...client.env, SENTRY_DSN: dsn.replace(publicKey, key), STORY: 'report' };
      sent += sentBy(await run(client.command, env));
    }
    await w.settle();
    const { groups } = await w.expectOk('list_exception_groups', { serviceId: moved.serviceId });
    expect(groups.reduce((sum: number, { eventCount }: Group) => sum + eventCount, 0)).toBe(sent);
    expect(groups).toHaveLength(client.wall.length);
  },
);
