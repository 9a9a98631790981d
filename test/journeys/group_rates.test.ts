import { expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { applyGroupRates } from '#modules/rules/apply_group_rates.ts';
import type { Id } from '#kernel/ids.ts';
import { runGroupExceptions } from '#test/kit/ingest_jobs.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { storesOf } from '#modules/stores.ts';
import { GroupRateReader } from '#modules/exceptions/store/group_rate_store.ts';
import { type RolesRuntime, rolesRuntime } from '#test/kit/roles.ts';
import { setOfRule } from '#test/kit/metrics/rule_settings.ts';
import { type World, world } from '#test/kit/world.ts';

interface Setting {
  readonly w: World;
  readonly serviceId: Id<'service'>;
  /** Sends events of one exception, each of a user of its own, unless all are of one. */
  arrive(count: number, overrides?: Partial<ExceptionEvent>, user?: string): Promise<void>;
  apply(): Promise<void>;
  incidents(): Promise<{ incidentId: string; status: string; details: Record<string, unknown>; occurrences: number }[]>;
}

async function setting(settings: object): Promise<Setting> {
  const w = await world();
  const { serviceId } = await w.given.service();
  const rule = { serviceId, name: 'Often', kind: 'exception', config: {} };
  const { ruleId } = await w.expectOk('create_alert_rule', rule);
  await setOfRule(w, ruleId, settings);
  const runtime = rolesRuntime(w.context);
  let users = 0;
  return {
    w,
    serviceId,
    async arrive(count, overrides = {}, user) {
      const events = Array.from({ length: count }, () => {
        const id = user ?? `user ${(users += 1)}`;
        return exceptionEvent(w.clock.now(), { user: { id, email: null, username: null, ip: null }, ...overrides });
      });
      await runGroupExceptions(runtime, { orgId: w.orgId, serviceId }, events);
    },
    apply: () => applyGroupRates(runtime),
    incidents: async () => (await w.expectOk('list_incidents', { serviceId })).incidents,
  };
}

function withRates({ exceptions }: RolesRuntime, rates: Pick<GroupRateReader, 'listActive'>) {
  return { countByGroup: exceptions.countByGroup.bind(exceptions), rates };
}

test('a rule on events opens one incident for the exception that comes too often, and none because one is new', async () => {
  const s = await setting({ eventsOver: 5, rateMinutes: 10 });
  await s.arrive(5);
  await s.arrive(5, { level: 'warning', message: 'not severe', exceptions: [] });
  await s.apply();
  expect(await s.incidents()).toEqual([]);
  await s.arrive(1);
  await Promise.all([s.apply(), s.apply()]);
  await s.apply();
  const [incident, ...others] = await s.incidents();
  expect(others).toEqual([]);
  expect(incident).toMatchObject({ status: 'triggered', details: { outcome: 'rate', events: 6, eventsOver: 5 } });
});

test('what came before the last incident was resolved does not count again, nor what is older than the window', async () => {
  const s = await setting({ eventsOver: 5, rateMinutes: 10 });
  await s.arrive(6);
  await s.apply();
  const incidentId = (await s.incidents())[0]!.incidentId;
  s.w.clock.advance({ minutes: 1 });
  await s.w.expectOk('resolve_incident', { incidentId });
  s.w.clock.advance({ seconds: 10 });
  await s.arrive(5);
  await s.apply();
  expect(await s.incidents()).toHaveLength(1);
  await s.arrive(1);
  await s.apply();
  expect((await s.incidents()).map(({ status }) => status).toSorted()).toEqual(['resolved', 'triggered']);
});

test('a rule on users counts each once, and leaves resolved exceptions alone', async () => {
  const s = await setting({ usersOver: 2, rateMinutes: 60 });
  await s.arrive(20, {}, 'the same');
  await s.arrive(1);
  await s.apply();
  expect(await s.incidents()).toEqual([]);
  await s.arrive(1);
  const { groups } = await s.w.expectOk('list_exception_groups', { serviceId: s.serviceId });
  await s.w.expectOk('set_exception_status', { groupId: groups[0].groupId, status: 'ignored' });
  await s.apply();
  expect(await s.incidents()).toEqual([]);
  await s.w.expectOk('set_exception_status', { groupId: groups[0].groupId, status: 'unresolved' });
  await s.apply();
  expect(await s.incidents()).toMatchObject([{ details: { users: 3, usersOver: 2 } }]);
  s.w.clock.advance({ hours: 2 });
  await s.apply();
  expect(await s.incidents()).toMatchObject([{ occurrences: 1 }]);
});

test('a rule with conditions counts only the events that meet them, whatever others come', async () => {
  const s = await setting({ eventsOver: 5, rateMinutes: 10, inEnvironment: 'prod*', withTag: 'customer:acme*' });
  const acme = { environment: 'production', tags: { customer: 'ACME Ltd' } };
  await s.arrive(10, { ...acme, environment: 'staging' });
  await s.arrive(10, { ...acme, tags: { customer: 'other' } });
  await s.arrive(5, acme);
  await s.apply();
  expect(await s.incidents()).toEqual([]);
  await s.arrive(1, acme);
  await s.apply();
  expect(await s.incidents()).toMatchObject([{ details: { events: 6, users: 6, eventsOver: 5 } }]);
});

test('a rule on users with a release counts the users of that release, in groups that are merged as well', async () => {
  const s = await setting({ usersOver: 2, rateMinutes: 10, inRelease: '2.*' });
  const { w, serviceId } = s;
  const other = { message: 'other', exceptions: [], fingerprint: ['other'] };
  await s.arrive(5, { release: '1.9' });
  await s.arrive(2, { release: '2.0' });
  await s.arrive(1, { ...other, release: '2.1' });
  await s.apply();
  expect(await s.incidents()).toEqual([]);
  const { groups } = await w.expectOk('list_exception_groups', { serviceId });
  const [into, part] = groups.toSorted(
    (a: { eventCount: number }, b: { eventCount: number }) => b.eventCount - a.eventCount,
  );
  await storesOf(w.context.db.session()).groupMerges.merge([part.groupId], into.groupId, w.clock.now());
  await s.apply();
  expect(await s.incidents()).toMatchObject([{ details: { users: 3, events: 3, usersOver: 2 } }]);
});

test('a service with many exceptions leaves no other without its rates', async () => {
  const s = await setting({ eventsOver: 1, rateMinutes: 10 });
  const { w } = s;
  const { serviceId } = await w.given.service();
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'Often', kind: 'exception', config: {} });
  await setOfRule(w, ruleId, { eventsOver: 1, rateMinutes: 10 });
  const runtime = rolesRuntime(w.context);
  const rates = new GroupRateReader(w.context.clickhouse, { groups: 2, ofService: 1 });
  await s.arrive(2);
  for (const name of ['a', 'b', 'c']) {
    const sent = { message: name, exceptions: [], fingerprint: [name] };
    const events = Array.from({ length: 5 }, () => exceptionEvent(w.clock.now(), sent));
    await runGroupExceptions(runtime, { orgId: w.orgId, serviceId }, events);
  }
  await applyGroupRates({ ...runtime, exceptions: withRates(runtime, rates) });
  expect(await s.incidents()).toMatchObject([{ status: 'triggered' }]);
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  expect(incidents).toHaveLength(1);
});

test('a count that fails keeps no other from being made, and is told of', async () => {
  const s = await setting({ eventsOver: 1, rateMinutes: 10, inRelease: 'broken' });
  const { w, serviceId } = s;
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'Any', kind: 'exception', config: {} });
  await setOfRule(w, ruleId, { eventsOver: 1, rateMinutes: 10 });
  const runtime = rolesRuntime(w.context);
  const exceptions = withRates(runtime, {
    listActive: async (services, since, conditions) => {
      if (conditions.length > 0) throw new Error('timed out');
      return await runtime.exceptions.rates.listActive(services, since, conditions);
    },
  });
  await s.arrive(2);
  await expect(applyGroupRates({ ...runtime, exceptions })).rejects.toThrow('timed out');
  expect(await s.incidents()).toMatchObject([{ details: { outcome: 'rate', events: 2 } }]);
});

test('a rule that cannot even be set aside leaves no other without its rates, and is told of', async () => {
  const s = await setting({ eventsOver: 1, rateMinutes: 10 });
  const { w } = s;
  const { serviceId } = await w.given.service();
  const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, name: 'Odd', kind: 'exception', config: {} });
  await w.context.db.sql.run(`update alert_rules set config = '{"minSeverity": "loud"}' where id = $1`, [ruleId]);
  await s.arrive(2);
  const runtime = rolesRuntime(w.context);
  let changes = 0;
  const transaction: typeof runtime.db.transaction = (work) => {
    changes += 1;
    return changes === 1 ? Promise.reject(new Error('not set aside')) : w.context.db.transaction(work);
  };
  await expect(applyGroupRates({ ...runtime, db: { ...runtime.db, transaction } })).rejects.toThrow('not set aside');
  expect(await s.incidents()).toMatchObject([{ details: { outcome: 'rate', events: 2 } }]);
});
