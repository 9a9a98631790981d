import { expect, test } from 'vitest';

import { type Id, uuidOf } from '#kernel/ids.ts';
import type { MetricWriter } from '#modules/metrics/store/metric_writer.ts';
import type { RuleReader } from '#modules/rules/store/rule_reader.ts';
import type { Session } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';
import { runGroupExceptions, runStorePoints } from '#test/kit/ingest_jobs.ts';
import { staffedWorld } from '#test/kit/staffed_world.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';
import { watchedSession } from '#test/kit/watched_session.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { evaluateRules } from '#workers/evaluate_rules.ts';
import { purge, purgeDeleted, type PurgeRuntime } from '#workers/purge_service.ts';
import { whenDeleted } from '#test/kit/when.ts';

/** Tables whose rows outlive a service by decision: billing, and the audit log. */
const KEPT = new Set(['audit_log', 'billing_periods']);

const w = await closedByFile(staffedWorld({ keepOpen: true }));

interface Fixture {
  readonly serviceId: Id<'service'>;
  /** Ids of the service and of everything that belongs to it. */
  readonly ids: readonly string[];
}

/** A rule that opens incidents and pages nobody. */
const EXCEPTIONS = { name: 'New', kind: 'exception', config: {} };

/** A service with something in every table: rules, incidents that page, groups, dashboards, points and events. */
async function fixture(): Promise<Fixture> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [anna.userId] }]);
  const { serviceId } = alert;
  const rule = await w.expectOk('create_alert_rule', { serviceId, ...EXCEPTIONS });
  const dashboard = await w.expectOk('create_dashboard', { serviceId, name: 'Latency', layout: [{ type: 'line' }] });
  const incidentId = await alert.trigger();
  await arrive(serviceId);
  const kind = { serviceId, kind: 'points', reason: 'faulty', count: 1 } as const;
  const stores = storesOf(w.context.db.session());
  await stores.ingestRefusals.add([{ ...kind, hour: w.clock.now(), lastAt: w.clock.now() }]);
  const note = { incidentId, userId: anna.userId, agentName: null, body: 'Looking at it', requestKey: 'first' };
  await stores.incidentNotes.insert(note, w.clock.now());
  await w.runUntilIdle();
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  const { groups } = await w.expectOk('list_exception_groups', { serviceId });
  expect([incidents.length, groups.length]).toEqual([2, 1]);
  const { notifications } = await w.expectOk('get_incident', { incidentId });
  return {
    serviceId,
    ids: [
      serviceId,
      alert.ruleId,
      rule.ruleId,
      dashboard.dashboardId,
      groups[0].groupId,
      notifications[0].notificationId,
      ...incidents.map((incident: { incidentId: string }) => incident.incidentId),
    ],
  };
}

async function arrive(serviceId: Id<'service'>): Promise<void> {
  await storePoints(serviceId);
  await storeEvents(serviceId);
}

type Storing = Parameters<typeof runStorePoints>[0] & Parameters<typeof runGroupExceptions>[0];

async function storePoints(serviceId: Id<'service'>, runtime: Storing = w.runtime): Promise<void> {
  // The same once more would be taken for a batch that is sent again, and its series for one that is known.
  w.clock.advance({ minutes: 5 });
  const point = { name: 'latency', at: w.clock.now(), value: 5, labels: { route: '/pay' } };
  await runStorePoints(runtime, serviceId, [point]);
}

async function storeEvents(serviceId: Id<'service'>, runtime: Storing = w.runtime): Promise<void> {
  await runGroupExceptions(runtime, { orgId: w.orgId, serviceId }, [exceptionEvent(w.clock.now())]);
}

/** The tables that still say something of the service, with how many rows. */
async function traces({ serviceId, ids }: Fixture): Promise<string[]> {
  const { db, clickhouse } = w.context;
  await whenDeleted(w.context);
  const tables = await db.sql.rows<{ name: string }>(
    "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
  );
  const looked = tables.filter(({ name }) => !KEPT.has(name));
  const inPostgres = await db.sql.rows<{ name: string }>(
    looked
      .map(({ name }) => `select '${name}' as name where exists (select from ${name} as t where t::text like any ($1))`)
      .join(' union all '),
    [ids.map((id) => `%${id}%`)],
  );
  const result = await clickhouse.query({
    query: `SELECT table FROM system.columns JOIN system.tables ON system.tables.name = table AND system.tables.database = database
      WHERE database = currentDatabase() AND system.columns.name = 'service_id' AND engine LIKE '%MergeTree'`,
    format: 'JSONCompactEachRow',
  });
  const counted = await clickhouse.query({
    query: (await result.json<[string]>())
      .map(([name]) => `SELECT '${name}' WHERE (SELECT count() FROM ${name} WHERE service_id = {service:UUID}) > 0`)
      .join(' UNION ALL '),
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONCompactEachRow',
  });
  const inClickHouse = await counted.json<[string]>();
  return [...inPostgres.map(({ name }) => name), ...inClickHouse.map(([name]) => name)].sort();
}

const EVERYWHERE =
  'alert_rules dashboards exception_events exception_group_counts exception_groups exception_origins incident_notes ' +
  'incident_steps ' +
  'incident_timeline incidents ingest_keys ingest_refusals ' +
  'metric_hour_inserts metric_names metric_points metric_series notifications reply_numbers service_capabilities services';

test('a deleted service leaves only its bill and its audit log in the stores, and others lose nothing', async () => {
  const [gone, kept] = [await fixture(), await fixture()];
  expect(await traces(gone)).toEqual(EVERYWHERE.split(' '));
  await w.expectOk('delete_service', { serviceId: gone.serviceId });
  expect(await w.call('get_service', { serviceId: gone.serviceId })).toMatchObject({ status: 404 });
  await w.runUntilIdle();
  expect(await traces(gone)).toEqual([]);
  expect(await traces(kept)).toEqual(EVERYWHERE.split(' '));
  const billed = await w.context.db.sql.rows('select 1 from billing_periods where service_id = $1', [gone.serviceId]);
  expect(billed).toHaveLength(3);
});

test('a purge that is killed at any step is finished by the next one', async () => {
  const deleted = await fixture();
  await hide(deleted);
  let died = 0;
  // A purge deletes from ClickHouse each time; once shows that it does.
  const runtime = deletingOnce(w.runtime);
  const isLeft = async () =>
    (await w.context.db.sql.row('select 1 from services where id = $1', [deleted.serviceId])) !== null;
  while (await isLeft()) {
    await purge(crashingAt(runtime, died), deleted.serviceId).catch(() => {});
    died += 1;
    expect(died).toBeLessThan(20);
  }
  expect(died).toBeGreaterThan(6);
  expect(await traces(deleted)).toEqual([]);
});

test('a purge whose job was lost is found, and one that fails does not stop the others', async () => {
  const [first, second] = [await w.given.service(), await w.given.service()];
  for (const { serviceId } of [first, second]) await w.expectOk('delete_service', { serviceId });
  const deleteService = async (serviceId: Id<'service'>): Promise<void> => {
    if (serviceId === first.serviceId) throw new Error('no');
  };
  const ids = [first, second].map(({ serviceId }) => serviceId);
  const left = () => w.context.db.sql.rows('select id from services where id = any($1)', [ids]);
  await expect(purgeDeleted({ ...w.runtime, metricWriter: { deleteService } })).rejects.toThrow('no');
  expect(await left()).toEqual([{ id: first.serviceId }]);
  await purgeDeleted(w.runtime);
  expect(await left()).toEqual([]);
});

test('a deleted service pages nobody any more, and its rules are not evaluated', async () => {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const alert = await w.staff.alert(teamId, [{ afterMinutes: 5, channels: ['sms'], targetUserIds: [anna.userId] }]);
  await alert.trigger();
  await hide(alert);
  const asked: string[] = [];
  const evaluate: RuleReader['evaluate'] = async (questions) => {
    asked.push(...questions.map(({ ruleId }) => ruleId));
    return { values: new Map(), byLabel: new Map(), moreThan: new Set(), failed: new Map() };
  };
  await evaluateRules({ ...w.runtime, rules: { evaluate } });
  await w.advance({ minutes: 6 });
  expect(asked).not.toContain(alert.ruleId);
  expect(w.phone.messages.filter(({ to }) => to === anna.phone)).toEqual([]);
});

/** Services with what arrives, and goes on arriving: points, or events and the incident of a rule on exceptions. */
async function arriving(count: number, arrived: (serviceId: Id<'service'>) => Promise<void>): Promise<Fixture[]> {
  const services: Fixture[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const { serviceId } = await w.given.service();
    const { ruleId } = await w.expectOk('create_alert_rule', { serviceId, ...EXCEPTIONS });
    await arrived(serviceId);
    services.push({ serviceId, ids: [serviceId, ruleId] });
  }
  await w.runUntilIdle();
  return services;
}

test('points and events that come out of the queue before or after their service is purged leave no trace', async () => {
  const services = await arriving(2, arrive);
  for (const [nth, deleted] of services.entries()) {
    await hide(deleted);
    if (nth === 1) await purge(w.runtime, deleted.serviceId);
    await arrive(deleted.serviceId);
    await purge(w.runtime, deleted.serviceId);
  }
  for (const deleted of services) expect(await traces(deleted)).toEqual([]);
});

test.each([
  {
    what: 'points',
    store: storePoints,
    tables: ['metric_hour_inserts', 'metric_names', 'metric_points', 'metric_series'],
  },
  { what: 'events', store: storeEvents, tables: ['exception_events', 'exception_origins'] },
])('$what that are being stored during a purge are deleted, also if their worker died', async ({ store, tables }) => {
  const services = await arriving(2, store);
  const [overtaken, left] = [services[0]!, services[1]!];
  const purging = purgingBeforeInsert(overtaken, (writer) => writer.deleteService(overtaken.serviceId));
  await store(overtaken.serviceId, purging);
  expect(await traces(overtaken)).toEqual([]);

  const died = purgingBeforeInsert(left, () => Promise.reject(new Error('died')));
  await expect(store(left.serviceId, died)).rejects.toThrow('died');
  expect(await traces(left)).toEqual(tables);
  await store(left.serviceId);
  expect(await traces(left)).toEqual([]);
});

/** Hides a service as delete_service does, but without the job. */
async function hide({ serviceId }: Pick<Fixture, 'serviceId'>): Promise<void> {
  await w.context.db.sql.run('update services set deleted_at = now() where id = $1', [serviceId]);
}

/** The workers, whose writers are overtaken by a whole purge just before they insert. */
function purgingBeforeInsert(
  deleted: Fixture,
  deleteService: (writer: Pick<MetricWriter, 'deleteService'>) => Promise<void>,
) {
  const overtaken = <Parameters extends unknown[]>(writer: {
    insert(...parameters: Parameters): Promise<void>;
    deleteService(serviceId: Id<'service'>): Promise<void>;
  }) => ({
    async insert(...parameters: Parameters): Promise<void> {
      await hide(deleted);
      await purge(w.runtime, deleted.serviceId);
      expect(await traces(deleted)).toEqual([]);
      await writer.insert(...parameters);
    },
    deleteService: () => deleteService(writer),
  });
  const { metricWriter, exceptionWriter } = w.runtime;
  return { ...w.runtime, metricWriter: overtaken(metricWriter), exceptionWriter: overtaken(exceptionWriter) };
}

/** The workers, whose writers carry out the first order to delete, and count the later ones as carried out. */
function deletingOnce({ metricWriter, exceptionWriter, ...runtime }: PurgeRuntime): PurgeRuntime {
  const once = (writer: PurgeRuntime['metricWriter']): PurgeRuntime['metricWriter'] => {
    let isDone = false;
    return {
      async deleteService(serviceId) {
        if (!isDone) await writer.deleteService(serviceId);
        isDone = true;
      },
    };
  };
  return { ...runtime, metricWriter: once(metricWriter), exceptionWriter: once(exceptionWriter) };
}

/** The workers, which die before the step of that number: an order to ClickHouse, or a statement to PostgreSQL. */
function crashingAt(runtime: PurgeRuntime, step: number): PurgeRuntime {
  let count = 0;
  const advance = (): void => {
    if (count === step) throw new Error('died');
    count += 1;
  };
  const dying =
    <Parameters extends unknown[], Result>(work: (...parameters: Parameters) => Promise<Result>) =>
    async (...parameters: Parameters): Promise<Result> => {
      advance();
      return await work(...parameters);
    };
  const session = (): Session => watchedSession(runtime.db.session(), async () => advance());
  const { metricWriter, exceptionWriter } = runtime;
  return {
    db: { ...runtime.db, session },
    metricWriter: { deleteService: dying((serviceId) => metricWriter.deleteService(serviceId)) },
    exceptionWriter: { deleteService: dying((serviceId) => exceptionWriter.deleteService(serviceId)) },
  };
}
