import { expect, test } from 'vitest';

import { type Id, uuidOf } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { runGroupExceptions, runStorePoints } from '#test/kit/ingest_jobs.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { enforceRetention } from '#workers/enforce_retention.ts';
import { whenDeleted } from '#test/kit/when.ts';

/** A service whose rule has paged Anna about an incident that was resolved then. */
async function resolvedIncident(w: StaffedWorld): Promise<{ serviceId: Id<'service'>; incidentId: string }> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const incidentId = await alert.trigger();
  await w.runUntilIdle();
  await w.expectOk('resolve_incident', { incidentId });
  await w.runUntilIdle();
  return { serviceId: alert.serviceId, incidentId };
}

async function rowsAbout(w: StaffedWorld, incidentId: string): Promise<number> {
  const tables = ['incidents where id', 'incident_steps where incident_id', 'incident_timeline where incident_id'];
  const counts = [...tables, 'notifications where incident_id'].map((where) => `(select count(*) from ${where} = $1)`);
  const row = await w.context.db.sql.row<{ n: number }>(`select ${counts.join(' + ')} as n`, [incidentId]);
  return row?.n ?? 0;
}

test('a resolved incident is kept for the retention of its service, then hidden at once, then removed with its log; an open one is kept', async () => {
  const w = await staffedWorld();
  const [old, kept] = [await resolvedIncident(w), await resolvedIncident(w)];
  const alert = await w.staff.alert(await w.staff.team(), [{ afterMinutes: 0, channels: ['sms'] }]);
  const open = await alert.trigger();
  for (const serviceId of [old.serviceId, alert.serviceId])
    await w.expectOk('set_retention', { serviceId, capability: 'oncall', retentionDays: 7 });
  w.clock.advance({ hours: 7 * 24 });
  await enforceRetention(w.runtime);
  expect((await w.expectOk('list_incidents')).total).toBe(3);

  w.clock.advance({ milliseconds: 1 });
  const { incidents } = await w.expectOk('list_incidents', { status: 'resolved' });
  expect(incidents).toMatchObject([{ incidentId: kept.incidentId }]);
  for (const action of ['get_incident', 'acknowledge_incident', 'resolve_incident']) {
    expect(await w.call(action, { incidentId: old.incidentId })).toMatchObject({ status: 404 });
  }
  expect(await rowsAbout(w, old.incidentId)).toBeGreaterThan(4);
  // A store that fails does not stop the others, and the rest is removed next time.
  const away = () => Promise.reject(new Error('away'));
  const runtime = {
    ...w.runtime,
    expiredRows: { remove: away, removeNames: away, removeOrigins: away, removeRollups: away },
  };
  await expect(enforceRetention(runtime)).rejects.toThrow('away');
  expect(await rowsAbout(w, old.incidentId)).toBe(0);
  expect(await rowsAbout(w, kept.incidentId)).toBeGreaterThan(4);
  w.clock.advance({ hours: 24 * 1_000 });
  await enforceRetention(w.runtime);
  expect(await rowsAbout(w, kept.incidentId)).toBe(0);
  expect(await w.expectOk('get_incident', { incidentId: open })).toMatchObject({ status: 'triggered' });
});

test('exceptions whose events are all too old are hidden at once, and removed with their events', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  const rule = { serviceId, name: 'New', kind: 'exception', config: {} };
  await w.expectOk('create_alert_rule', rule);
  const at = (days: number) => w.clock.now().subtract({ hours: 24 * days });
  const lone = (message: string, days: number) => exceptionEvent(at(days), { exceptions: [], message });
  await runGroupExceptions(w.runtime, { orgId: w.orgId, serviceId }, [
    lone('old', 5),
    lone('both', 5),
    lone('both', 1),
  ]);
  const titles = async () =>
    (await w.expectOk('list_exception_groups', { serviceId })).groups.map(({ title, eventCount }: Group) => [
      title,
      eventCount,
    ]);
  expect(await titles()).toEqual([
    ['both', 2],
    ['old', 1],
  ]);
  const oldIncident = (await w.expectOk('list_incidents')).incidents.find(({ title }: Group) => title === 'old');
  await w.expectOk('set_retention', { serviceId, capability: 'exceptions', retentionDays: 3 });
  expect(await titles()).toEqual([['both', 1]]);
  expect(await w.call('get_exception_group', { groupId: oldIncident.exceptionGroupId })).toMatchObject({ status: 404 });

  await enforceRetention(w.runtime);
  expect(await groupTitles(w, serviceId)).toEqual(['both']);
  await whenDeleted(w.context);
  expect(await rowsOf(w, 'exception_events', serviceId)).toBe(1);
  expect(await titles()).toEqual([['both', 1]]);
  expect(await w.expectOk('get_incident', { incidentId: oldIncident.incidentId })).toMatchObject({
    status: 'triggered',
    exceptionGroupId: null,
  });
});

test('points that are too old are hidden at once, and removed with metric names that have no points left', async () => {
  const w = await staffedWorld();
  const { serviceId } = await w.given.service();
  const at = (hours: number) => w.clock.now().subtract({ hours });
  await runStorePoints(w.runtime, serviceId, [
    { name: 'old', at: at(50), value: 1 },
    { name: 'both', at: at(50), value: 1 },
    { name: 'both', at: at(1), value: 1 },
  ]);
  const week = { serviceId, metricName: 'both', windowMinutes: 10_080, aggregation: 'count' };
  const values = async () =>
    (await w.expectOk('query_metric', week)).points.map(({ value }: { value: number }) => value);
  expect(await values()).toEqual([1, 1]);
  await w.expectOk('set_retention', { serviceId, capability: 'metrics', retentionDays: 2 });
  expect(await values()).toEqual([1]);
  expect((await w.expectOk('list_metric_names', { serviceId })).metricNames).toEqual(['both']);

  await enforceRetention(w.runtime);
  await whenDeleted(w.context);
  expect(await rowsOf(w, 'metric_points', serviceId)).toBe(1);
  expect(await rowsOf(w, 'metric_names', serviceId)).toBe(1);
});

test('many rows are removed in small batches, and rows that are being changed are left for the next time', async () => {
  const w = await staffedWorld();
  const alert = await w.staff.alert(await w.staff.team(), [{ afterMinutes: 0, channels: ['sms'] }]);
  const incidents: string[] = [];
  for (const title of ['one', 'two', 'three']) {
    incidents.push(await alert.trigger(title));
    await w.expectOk('resolve_incident', { incidentId: incidents.at(-1) });
  }
  w.clock.advance({ hours: 24 * 401 });
  const { db } = w.context;
  const remove = (limit: number) => storesOf(db.session()).incidents.removeOutdated(w.clock.now(), limit);
  const looking = await db.transaction(async ({ sql }) => {
    await sql.row('select 1 from incidents where id = $1 for update', [incidents[0]]);
    return [await remove(1), await remove(5)];
  });
  expect(looking).toEqual([1, 1]);
  expect(await remove(5)).toBe(1);
  expect(await remove(5)).toBe(0);
});

interface Group {
  readonly title: string;
  readonly eventCount: number;
}

async function groupTitles(w: StaffedWorld, serviceId: Id<'service'>): Promise<string[]> {
  const sql = 'select title from exception_groups where service_id = $1';
  return (await w.context.db.sql.rows<Group>(sql, [serviceId])).map(({ title }) => title);
}

/** Counts the different rows of a service in a table of ClickHouse. */
async function rowsOf(w: StaffedWorld, table: string, serviceId: Id<'service'>): Promise<number> {
  const result = await w.context.clickhouse.query({
    query: `SELECT count() FROM ${table} FINAL WHERE service_id = {service:UUID}`,
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONCompactEachRow',
  });
  const [[rows] = ['0']] = await result.json<[string]>();
  return Number(rows);
}
