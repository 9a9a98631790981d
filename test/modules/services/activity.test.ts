import { expect, test } from 'vitest';

import { runGroupExceptions, runStorePoints } from '#test/kit/ingest_jobs.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { storesOf } from '#modules/stores.ts';
import { workerRuntime } from '#workers/worker_role.ts';
import { findServiceWithMetrics } from '#modules/metrics/operations/describe_metrics.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { newId } from '#kernel/ids.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const shared = await fileWorld();

const NONE = Array.from({ length: 24 }, () => 0);
const hours = (counts: Readonly<Record<number, number>>) => NONE.map((_, hour) => counts[hour] ?? 0);

test('what a service sent is told hour by hour, with what was refused and what watches it', async () => {
  const w = await shared.forOrganization();
  w.clock.set('2026-03-04T12:30:00Z');
  const [shop, quiet] = [await w.given.service(), await w.given.service()];
  const now = w.clock.now();
  const runtime = workerRuntime(w.context);
  const at = now.subtract({ minutes: 10 });
  await runStorePoints(runtime, shop.serviceId, [
    { name: 'cpu', at, value: 1 },
    { name: 'cpu', at: now.subtract({ hours: 3 }), value: 2 },
    { name: 'cpu', at: now.subtract({ hours: 30 }), value: 3 },
  ]);
  const service = { orgId: w.orgId, serviceId: shop.serviceId };
  await runGroupExceptions({ ...runtime, ...w.context }, service, [exceptionEvent(at), exceptionEvent(at)]);
  await storesOf(w.context.db.session()).ingestRefusals.add([
    { serviceId: shop.serviceId, kind: 'points', reason: 'faulty', hour: at, count: 7, lastAt: at },
  ]);
  const rule = { serviceId: shop.serviceId, name: 'new', kind: 'exception', config: {} };
  await w.expectOk('create_alert_rule', rule);

  const { email } = await givenPerson(w, { role: 'viewer' });
  const browser = await signedIn(w, email);
  const activity = await browser.invoke(w.orgId, 'get_service_activity', { serviceId: shop.serviceId });
  expect(activity.body.result).toEqual({
    from: '2026-03-03T13:00:00.000Z',
    points: hours({ 20: 1, 23: 1 }),
    events: hours({ 23: 2 }),
    refused: 7,
  });
  const serviceIds = [shop.serviceId, quiet.serviceId, 'service_01h455vb4pex5vsknk084sn02q'];
  const health = await browser.invoke(w.orgId, 'get_service_health', { serviceIds });
  expect(health.body.result.from).toBe('2026-03-03T13:00:00.000Z');
  expect(new Map(health.body.result.services.map((one: { serviceId: string }) => [one.serviceId, one]))).toEqual(
    new Map([
      [
        shop.serviceId,
        {
          serviceId: shop.serviceId,
          lastPointAt: at.toString({ smallestUnit: 'millisecond' }),
          events: hours({ 23: 2 }),
          refused: 7,
          rules: 1,
          pagingRules: 0,
        },
      ],
      [
        quiet.serviceId,
        { serviceId: quiet.serviceId, lastPointAt: null, events: NONE, refused: 0, rules: 0, pagingRules: 0 },
      ],
    ]),
  );
});

test('a service of another organization is not found, and not told of', async () => {
  const w = await shared.forOrganization();
  const { serviceId } = await w.given.service();
  const other = await w.given.organization('Other');
  const { email } = await givenPerson(w, { role: 'owner', orgId: other.orgId });
  const browser = await signedIn(w, email);
  expect(await browser.invoke(other.orgId, 'get_service_activity', { serviceId })).toMatchObject({ status: 404 });
  const health = await browser.invoke(other.orgId, 'get_service_health', { serviceIds: [serviceId] });
  expect(health.body.result.services).toEqual([]);
});

test('Metrics open with the first service that has sent some, else with the first that may', async () => {
  const w = await shared.forOrganization();
  const opened = async () => {
    const caller = memberCaller(w.orgId, newId('user'), 'viewer');
    const { service } = await runOperation(w, findServiceWithMetrics, caller, {});
    return service?.name ?? null;
  };
  expect(await opened()).toBe(null);
  await w.expectOk('create_service', { name: 'api' });
  expect(await opened()).toBe('api');
  await w.given.service({ name: 'billing' });
  expect(await opened()).toBe('billing');
  const sending = await w.given.service({ name: 'checkout' });
  await givenMetrics(w, sending.serviceId, { name: 'm', minutes: 5, everySeconds: 60, value: () => 1 });
  expect(await opened()).toBe('checkout');
});
