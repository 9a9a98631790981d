import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { crc32, inflateRawSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { exportOrganization } from '#entry/transfer/export_organization.ts';
import { importOrganization } from '#entry/transfer/import_organization.ts';
import { importEvents } from '#entry/transfer/import_rows.ts';
import { MovedIds } from '#entry/transfer/moved_ids.ts';
import { NOT_EXPORTED, ORGANIZATION_TABLES } from '#entry/transfer/organization_tables.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import { ExemplarStore } from '#modules/metrics/store/exemplar_store.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { testClock } from '#test/kit/clock.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { closedByFile } from '#test/kit/used_in_turn.ts';
import { type World, world } from '#test/kit/world.ts';

const SECRET = { appSecret: 'the secret of another installation' };

/** A team with a policy, an incident of each answered state, a service with points and events. */
async function fill(w: StaffedWorld): Promise<{ serviceId: string; incidentIds: string[] }> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const incidentIds: string[] = [];
  for (const status of ['acknowledged', 'resolved', 'triggered']) {
    const steps = [0, 5].map((afterMinutes) => ({
      afterMinutes,
      channels: ['sms'] as const,
      targetUserIds: [anna.userId],
    }));
    const alert = await w.staff.alert(teamId, steps);
    const incidentId = await alert.trigger(`one that is ${status}`);
    await w.runUntilIdle();
    if (status !== 'triggered') {
      await w.expectOk('acknowledge_incident', { incidentId });
      incidentIds.push(incidentId);
    }
    if (status === 'resolved') await w.expectOk('resolve_incident', { incidentId });
  }
  const { serviceId, dsn, ingestionKey } = await w.given.service({ name: 'shop' });
  const { username, pathname } = new URL(dsn);
  for (const message of ['no beans left', 'no milk left', 'no beans left']) {
    const url = `/api${pathname}/store/?sentry_key=${username}`;
    expect((await w.app.inject({ method: 'POST', url, payload: { message } })).statusCode).toBe(200);
  }
  const points = [1, 2, 3].map((value) => ({ name: 'cpu', value, labels: { core: `"${value}", quoted` } }));
  const headers = { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' };
  const sent = await w.app.inject({ method: 'POST', url: '/api/ingest/metrics', headers, payload: { points } });
  expect(sent.statusCode).toBe(202);
  await w.runUntilIdle();
  await addWhatHasIds(w, asId('service', serviceId));
  return { serviceId, incidentIds };
}

/** One of each of what else has an id of its own. */
async function addWhatHasIds(w: StaffedWorld, serviceId: Id<'service'>): Promise<void> {
  const { sql } = w.context.db;
  const insert = (into: string, values: string) =>
    sql.run(`insert into ${into} values (${values})`, [w.orgId, serviceId]);
  await insert(
    'maintenance_windows (id, org_id, service_id, name, starts_at, ends_at, timezone, created_at)',
    `'${newId('maintenance')}', $1, $2, 'move', now(), now() + interval '1 day', 'UTC', now()`,
  );
  const monitorId = newId('monitor');
  const limits = 'margin_minutes, runtime_minutes, failure_threshold, recovery_threshold';
  await insert(
    `monitors (id, org_id, service_id, slug, environment, ${limits}, next_due_at, overdue_from, created_at, updated_at)`,
    `'${monitorId}', $1, $2, 'nightly', 'production', 1, 30, 1, 1, now(), now(), now(), now()`,
  );
  await sql.run(
    `insert into monitor_runs (monitor_id, run_id, status, started_at, timeout_at)
     values ($1, 'one', 'ok', now(), null), ($1, 'another', 'in_progress', now(), now())`,
    [monitorId],
  );
  await insert(
    'deploys (id, org_id, service_id, release, environment, finished_at, created_at)',
    `'${newId('deploy')}', $1, $2, 'v1', 'production', now(), now()`,
  );
  await sql.run(
    `insert into event_feedback (id, service_id, event_id, comments, created_at) values ($1, $2, 'none', 'it broke', now())`,
    [randomUUID(), serviceId],
  );
  const exemplar = { name: 'cpu', labels: ['core', '1'], at: w.clock.now().epochMilliseconds, value: Infinity };
  const traced = { ...exemplar, traceId: 'a'.repeat(32), spanId: '' };
  await new ExemplarStore(w.context.clickhouse).insert([{ serviceId, exemplar: traced }], 'moved');
}

const IDENTIFIED = ['maintenance_windows', 'monitors', 'monitor_runs', 'deploys', 'event_feedback'];

async function countIdentified(w: World): Promise<number[]> {
  return await Promise.all(
    IDENTIFIED.map(async (table) => {
      const [row] = await w.context.db.sql.rows<{ count: number }>(`select count(*)::int as count from ${table}`);
      return row?.count ?? 0;
    }),
  );
}

async function answersOf(w: World, key: string, { serviceId, incidentIds }: Awaited<ReturnType<typeof fill>>) {
  const period = { windowMinutes: 60 };
  const asked: [string, object][] = [
    ['list_teams', {}],
    ['list_exception_groups', { serviceId }],
    ['list_metric_names', { serviceId }],
    ['query_metric', { serviceId, metricName: 'cpu{core=~".*quoted"}', aggregation: 'sum', ...period }],
    ...incidentIds.map((incidentId): [string, object] => ['get_incident', { incidentId }]),
  ];
  const answers: unknown[] = [];
  for (const [action, body] of asked) answers.push(await w.expectOk(action, body, { key }));
  return answers;
}

async function rowsOf(w: World): Promise<unknown[]> {
  const tables = ['organizations', 'memberships', 'teams', 'services', 'incidents', 'audit_log'];
  return await Promise.all(tables.map((table) => w.context.db.sql.rows(`select * from ${table} order by 1, 2`)));
}

const clock = testClock();
/** The installation that all tests export from. */
const from = await closedByFile(staffedWorld({ clock, keepOpen: true }));
const filled = await fill(from);

/** An installation of its own, with the channels of the one that all tests export from. */
async function anotherInstallation(): Promise<World> {
  const { twilioAccountSid, twilioAuthToken, twilioFrom, twilioApiBase } = from.context.config;
  const channel = { twilioAccountSid, twilioAuthToken, twilioFrom, twilioApiBase };
  return await world({ clock, settings: { ...SECRET, ...channel } });
}

test('an organization gives the same answers in another installation, whose own are untouched', async () => {
  // What people are told about answers leaves first.
  await from.advance({ minutes: 2 });
  const folder = path.join(makeFolder(), 'export');
  const { files } = await exportOrganization(from.context.config, from.orgId, folder);
  expect(files).toMatchObject({ 'incidents.jsonl': 3, 'exception_events.jsonl': 3, 'metric_points.csv': 4 });
  expect(readFileSync(path.join(folder, 'metric_exemplars.jsonl'), 'utf8')).toMatch(/"metric":"cpu".*"value":"inf"/);
  const texts = Object.keys(files).map((file) => readFileSync(path.join(folder, file), 'utf8'));
  expect(texts.join('')).not.toMatch(/tocsin_(key|ing)_|password_hash|key_hash/);

  const to = await anotherInstallation();
  const before = await rowsOf(to);
  const made = await importOrganization(to.context.config, folder, { asCopy: false });
  expect(made).toMatchObject({ organizationId: from.orgId, movedIds: 0, services: 4 });
  const key = await to.given.apiKey({ orgId: asId('org', made.organizationId) });
  expect(await answersOf(to, key, filled)).toEqual(await answersOf(from, from.orgKey, filled));
  const after = await rowsOf(to);
  for (const [index, rows] of before.entries()) expect(after[index]).toEqual(expect.arrayContaining(rows as unknown[]));
  // The other installation pages for what is open until it is stopped.
  expect(await to.context.db.sql.rows(`select state, reason from incident_steps where state = 'pending'`)).toEqual([]);
  // Its job still reports there: nothing is missed here, and no run takes too long.
  expect(await to.context.db.sql.rows('select next_due_at, overdue_from from monitors')).toEqual([
    { next_due_at: null, overdue_from: null },
  ]);
  expect(await to.context.db.sql.rows('select status from monitor_runs')).toEqual([{ status: 'ok' }]);
  // No worker removed anything meanwhile.
  const held = `select done_at from leases where name = 'enforce_retention'`;
  expect(await to.context.db.sql.rows(held)).toEqual([{ done_at: null }]);
  // Incidents that are opened here continue from their numbers.
  const last = `select last::int from incident_numbers where org_id = '${from.orgId}'`;
  expect(await to.context.db.sql.rows(last)).toEqual([{ last: 3 }]);
  // The ingestion keys are new, and work.
  const service = await to.expectOk('get_service', { serviceId: filled.serviceId }, { key });
  expect(service.name).toBe('shop');

  await expect(importOrganization(to.context.config, folder, { asCopy: false })).rejects.toThrow(
    'is in this installation already',
  );
  const copy = await importOrganization(to.context.config, folder, { asCopy: true });
  expect(copy.organizationId).not.toBe(made.organizationId);
  const copyKey = await to.given.apiKey({ orgId: asId('org', copy.organizationId) });
  const { incidents } = await to.expectOk('list_incidents', {}, { key: copyKey });
  const { incidents: originals } = await to.expectOk('list_incidents', {}, { key });
  const inShort = (list: { number: number; title: string; status: string }[]) =>
    list.toSorted((a, b) => a.number - b.number).map(({ number, title, status }) => [number, title, status]);
  // They were opened at one moment: their order is that of their ids, and those are new.
  expect(inShort(incidents)).toEqual(inShort(originals));
  expect(await countIdentified(to)).toEqual(IDENTIFIED.map(() => 2));
});

/** Returns the files of an archive by its directory, each with its content. */
function unzipped(archive: Buffer): Map<string, string> {
  const end = archive.subarray(-98);
  expect(end.readUInt32LE(0)).toBe(0x06_06_4b_50);
  let at = Number(end.readBigUInt64LE(48));
  const files = new Map<string, string>();
  for (let left = Number(end.readBigUInt64LE(24)); left > 0; left -= 1) {
    const nameBytes = archive.readUInt16LE(at + 28);
    const name = archive.toString('utf8', at + 46, at + 46 + nameBytes);
    const numbers = at + 46 + nameBytes + 4;
    const [bytes, packed, offset] = [0, 8, 16].map((place) => Number(archive.readBigUInt64LE(numbers + place)));
    const begin = offset! + 30 + archive.readUInt16LE(offset! + 26) + archive.readUInt16LE(offset! + 28);
    const content = inflateRawSync(archive.subarray(begin, begin + packed!));
    expect([content.length, crc32(content)]).toEqual([bytes, archive.readUInt32LE(at + 16)]);
    files.set(name, content.toString());
    at = numbers + archive.readUInt16LE(at + 30) - 4;
  }
  return files;
}

test('what an import that was killed has left counts for nothing', async () => {
  const folder = path.join(makeFolder(), 'export');
  await exportOrganization(from.context.config, from.orgId, folder);
  const to = await anotherInstallation();
  await importEvents(to.context.clickhouse, folder, new MovedIds());
  const made = await importOrganization(to.context.config, folder, { asCopy: false });
  expect(made).toMatchObject({ organizationId: from.orgId, movedIds: 1 });
  const key = await to.given.apiKey({ orgId: from.orgId });
  const { services } = await to.expectOk('list_services', {}, { key });
  const { serviceId } = services.find(({ name }: { name: string }) => name === 'shop');
  expect(serviceId).not.toBe(filled.serviceId);
  const query = { serviceId, metricName: 'cpu', aggregation: 'sum', windowMinutes: 60 };
  const [there, here] = await Promise.all([
    from.expectOk('query_metric', { ...query, serviceId: filled.serviceId }),
    to.expectOk('query_metric', query, { key }),
  ]);
  expect(here.points).toEqual(there.points);
});

test('of two imports at the same time one succeeds, and keeps what happened', async () => {
  const folder = path.join(makeFolder(), 'export');
  await exportOrganization(from.context.config, from.orgId, folder);
  const to = await anotherInstallation();
  const both = [1, 2].map(() => importOrganization(to.context.config, folder, { asCopy: false }));
  const outcomes = await Promise.allSettled(both);
  expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  const key = await to.given.apiKey({ orgId: from.orgId });
  expect(await answersOf(to, key, filled)).toEqual(await answersOf(from, from.orgKey, filled));
});

test('an owner downloads what the command line exports, which is in the audit log, and nobody else does', async () => {
  const w = from;
  const olga = await givenPerson(w, { role: 'owner', name: 'Olga' });
  const browser = await signedIn(w, olga.email);
  const admin = await signedIn(w, (await givenPerson(w, { role: 'admin', name: 'Adam' })).email);
  const actions = `/organizations/${w.orgId}/actions`;
  expect(await admin.post(`${actions}/begin_organization_export`, {})).toMatchObject({ status: 403 });
  const { ticket } = (await browser.post(`${actions}/begin_organization_export`, {})).body.result;
  const folder = path.join(makeFolder(), 'export');
  const { files } = await exportOrganization(w.context.config, w.orgId, folder);
  const download = (by: typeof browser, shown = ticket) =>
    w.app.inject({
      url: `/api/console${actions}/export_organization?ticket=${shown}`,
      headers: { cookie: by.cookie ?? '' },
    });
  expect(await download(admin)).toMatchObject({ statusCode: 403 });
  expect(await download(browser, 'forged')).toMatchObject({ statusCode: 403 });
  const answer = await download(browser);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': expect.stringMatching(/^attachment; filename="organization-[\d-]+\.zip"$/),
  });
  const texts = unzipped(answer.rawPayload);
  expect([...texts.keys()]).toEqual([...Object.keys(files), 'organization.json']);
  for (const file of Object.keys(files)) {
    expect(texts.get(file), file).toBe(readFileSync(path.join(folder, file), 'utf8'));
  }
  expect(JSON.parse(texts.get('organization.json')!)).toMatchObject({
    organizationId: w.orgId,
    files: { 'incidents.jsonl': 3 },
  });
  expect(texts.get('audit_log.jsonl')).toContain('begin_organization_export');
  w.clock.advance({ minutes: 11 });
  expect(await download(browser)).toMatchObject({ statusCode: 403 });
});

test('an export of a release that had fewer tables is imported', async () => {
  const folder = path.join(makeFolder(), 'export');
  const manifest = await exportOrganization(from.context.config, from.orgId, folder);
  const later = ['monitors.jsonl', 'monitor_runs.jsonl', 'metric_exemplars.jsonl'];
  for (const file of later) rmSync(path.join(folder, file));
  const files = Object.fromEntries(Object.entries(manifest.files).filter(([file]) => !later.includes(file)));
  writeFileSync(path.join(folder, 'organization.json'), JSON.stringify({ ...manifest, files }));
  const to = await world({ settings: SECRET });
  expect(await importOrganization(to.context.config, folder, { asCopy: false })).toMatchObject({ movedIds: 0 });
});

test('a row that reaches into another organization imports nothing', async () => {
  const to = await world({ settings: SECRET });
  const foreign = await to.expectOk('create_team', { name: 'Theirs' });
  const before = await rowsOf(to);
  const forged: [string, (row: Record<string, unknown>) => object, string][] = [
    ['team_members.jsonl', (row) => ({ ...row, team_id: foreign.teamId }), 'team_id is not in the export'],
    ['teams.jsonl', (row) => ({ ...row, org_id: to.orgId }), 'a row of another organization'],
    ['memberships.jsonl', (row) => ({ ...row, user_id: to.owner.userId }), 'user_id is not in the export'],
  ];
  const folder = path.join(makeFolder(), 'export');
  await exportOrganization(from.context.config, from.orgId, folder);
  for (const [file, change, message] of forged) {
    const text = readFileSync(path.join(folder, file), 'utf8');
    const [line = ''] = text.split('\n');
    writeFileSync(path.join(folder, file), `${JSON.stringify(change(JSON.parse(line) as Record<string, unknown>))}\n`);
    await expect(importOrganization(to.context.config, folder, { asCopy: false }), file).rejects.toThrow(message);
    writeFileSync(path.join(folder, file), text);
  }
  expect(await rowsOf(to)).toEqual(before);
});

test('every table is exported or left out for a reason', async () => {
  const w = await world();
  const tables = await w.context.db.sql.rows<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
  );
  const known = new Set([
    ...ORGANIZATION_TABLES.map(({ table }) => table),
    ...Object.keys(NOT_EXPORTED),
    'migrations',
    'incident_numbers',
  ]);
  expect(tables.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
});
