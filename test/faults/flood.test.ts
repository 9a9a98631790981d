import { randomBytes } from 'node:crypto';

import { expect, onTestFinished, test } from 'vitest';

import { type Id, uuidOf } from '#kernel/ids.ts';
import { startRoles } from '#test/kit/roles.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const PAGES = 6;
const TICK_MS = 100;
/**
 * Share of the flood that may be stored before the first page, as all of it waits in front: more only without fair
 * turns.
 */
const STORED_BEFORE_MAX = 0.75;

interface Sender {
  readonly serviceId: Id<'service'>;
  readonly dsn: string;
}

test.each([
  [1, 6_000],
  // The batches of several services are stored at the same time.
  [6, 12_000],
])(
  'a flood in %i services of one organization, of %i unique exceptions, delays no page of another, and loses nothing',
  async (count, events) => {
    const w = await staffedWorld({ jobs: 'real queue' });
    const attacked = await organizationOnCall(w, 'attacked');
    const quiet = await organizationOnCall(w, 'quiet');
    const flooded: Sender[] = [];
    for (let i = 0; i < count; i += 1) flooded.push(await attacked.service());
    const shop = await quiet.service();

    await flood(w, flooded, events);
    // The sweep of the pager, which gives organizations equal turns, goes by this clock.
    const clock = setInterval(() => w.clock.advance({ milliseconds: TICK_MS }), TICK_MS);
    onTestFinished(() => clearInterval(clock));
    const roles = startRoles(w.context);
    onTestFinished(() => roles.stop());
    /** Share of the flood that was stored when each page left: durations depend on the machine. */
    const storedBefore: number[] = [];
    for (let page = 0; page < PAGES; page += 1) {
      const before = pagesTo(w, quiet.phone);
      await send(w, shop, `quiet ${page}`);
      await expect.poll(() => pagesTo(w, quiet.phone), { timeout: 60_000, interval: 5 }).toBe(before + 1);
      storedBefore.push(await countEvents(w, flooded));
      // Three a minute are sent one by one.
      w.clock.advance({ seconds: 21 });
    }
    await expect.poll(() => countEvents(w, flooded), { timeout: 60_000, interval: 100 }).toBe(events);

    expect(storedBefore[0]).toBeLessThan(STORED_BEFORE_MAX * events);
    const { incidents } = await w.expectOk('list_incidents', {}, { key: attacked.key });
    const storms = incidents.filter(({ details }: { details: { standsFor?: number } }) => details.standsFor);
    expect(storms).toHaveLength(count);
    expect(incidents.length).toBeLessThanOrEqual(count * 21);
  },
  300_000,
);

/** An organization with one person on call, whom new exceptions of its services page by SMS. */
async function organizationOnCall(w: StaffedWorld, name: string) {
  const { orgId, orgKey: key } = await w.given.organization(name);
  const { userId } = await w.given.user({ orgId });
  const { teamId } = await w.expectOk('create_team', { name }, { key });
  const phone = `+3161${String(randomBytes(4).readUInt32BE() % 10_000_000).padStart(7, '0')}`;
  await w.expectOk('add_team_member', { teamId, userId, phone }, { key });
  const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] }];
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name, steps }, { key });
  const service = async (): Promise<Sender> => {
    const made = await w.given.service({ key });
    const rule = { serviceId: made.serviceId, name, kind: 'exception', config: {}, escalationPolicyId: policyId };
    await w.expectOk('create_alert_rule', rule, { key });
    return made;
  };
  return { key, phone, service };
}

async function flood(w: StaffedWorld, senders: readonly Sender[], events: number): Promise<void> {
  const rest = Array.from({ length: events }, (_, index) => index);
  while (rest.length > 0) {
    const some = rest.splice(0, 50);
    await Promise.all(some.map((number) => send(w, senders[number % senders.length]!, `flood ${number}`)));
  }
}

async function send({ app }: StaffedWorld, { dsn }: Sender, fingerprint: string): Promise<void> {
  const { username, pathname } = new URL(dsn);
  const payload = { message: fingerprint, level: 'error', fingerprint: [fingerprint] };
  const answer = await app.inject({
    method: 'POST',
    url: `/api${pathname}/store/?sentry_key=${username}`,
    payload,
    remoteAddress: '192.0.2.1',
  });
  expect(answer.statusCode).toBe(200);
}

function pagesTo({ phone }: StaffedWorld, number: string): number {
  return phone.messages.filter(({ to }) => to === number).length;
}

async function countEvents({ context }: StaffedWorld, senders: readonly Sender[]): Promise<number> {
  const result = await context.clickhouse.query({
    query: 'SELECT toUInt32(count()) AS events FROM exception_events FINAL WHERE service_id IN {services:Array(UUID)}',
    query_params: { services: senders.map(({ serviceId }) => uuidOf(serviceId)) },
    format: 'JSONEachRow',
  });
  return (await result.json<{ events: number }>())[0]?.events ?? 0;
}
