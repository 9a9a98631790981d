import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';

import { Client } from 'pg';

import { restoreBackup } from '#entry/backup/restore_backup.ts';
import { writeBackup } from '#entry/backup/write_backup.ts';
import { idOfUuid } from '#kernel/ids.ts';

import { count, duration, megabytes } from './figures.ts';
import { type Bench, type BenchStores, printInputs, printTable, withFolder, withStores } from './harness.ts';

const POINTS = 10_000_000;
const SERIES = 2_000;
const EVENTS = 100_000;
const PAYLOAD_BYTES = 2_000;
const AUDIT_ROWS = 200_000;
const SERVICE = '01890000-0000-7000-8000-000000000001';
const KEY = 'a key for the backup of a benchmark';

export const backup: Bench = {
  name: 'backup',
  about: 'size and seconds of a backup and of its restore, with and without a key',
  run: () =>
    withStores(async (stores) => {
      printInputs({
        points: `${count(POINTS)} of ${count(SERIES)} series`,
        exceptions: `${count(EVENTS)} of ${count(PAYLOAD_BYTES)} bytes`,
        'rows of the audit log': count(AUDIT_ROWS),
      });
      await fill(stores);
      await withFolder(async (folder) => {
        const rows = [await measure(stores, folder, undefined), await measure(stores, folder, KEY)];
        printTable(rows);
      });
    }),
};

async function measure({ context }: BenchStores, folder: string, backupKey: string | undefined) {
  const file = path.join(folder, backupKey === undefined ? 'open' : 'sealed');
  const name = `restored_${path.basename(file)}`;
  const config = { ...context.config, backupKey };
  const began = performance.now();
  const sink = createWriteStream(file, { flush: true });
  const { bytes, contentBytes } = await writeBackup(config, sink);
  sink.end();
  await finished(sink);
  const writtenMs = performance.now() - began;
  await context.db.sql.run(`create database ${name}`);
  await context.clickhouse.command({ query: `CREATE DATABASE ${name}` });
  const [databaseUrl, clickhouseUrl] = [config.databaseUrl, config.clickhouseUrl].map((url) => {
    const changed = new URL(url);
    changed.pathname = `/${name}`;
    return changed.toString();
  });
  const target = { ...config, databaseUrl: databaseUrl ?? '', clickhouseUrl: clickhouseUrl ?? '' };
  const restoring = performance.now();
  await restoreBackup(target, { file, replace: false });
  return {
    backup: backupKey === undefined ? 'without a key' : 'encrypted',
    'PostgreSQL, raw': megabytes(contentBytes.postgres),
    'ClickHouse, raw': megabytes(contentBytes.clickhouse),
    file: megabytes(bytes),
    'backup took': duration(writtenMs),
    'restore took': duration(performance.now() - restoring),
    resident: megabytes(process.memoryUsage().rss),
  };
}

async function fill({ context, firstRun }: BenchStores): Promise<void> {
  const { clickhouse, config } = context;
  const client = new Client({ connectionString: config.databaseUrl });
  await client.connect();
  await client.query(
    `insert into services (id, org_id, name, created_at, updated_at) values ($1, $2, 'shop', now(), now())`,
    [idOfUuid('service', SERVICE), firstRun.organizationId],
  );
  await client.query(
    `insert into exception_groups (id, org_id, service_id, key, grouping_version, grouping_parts, title, level, status_changed_at,
       first_seen_at, last_seen_at, created_at, updated_at)
     values ($1, $2, $3, 'key', 1, '[]', 'a group', 'error', now(), now(), now(), now(), now())`,
    [idOfUuid('group', SERVICE), firstRun.organizationId, idOfUuid('service', SERVICE)],
  );
  // Linking so many rows in one transaction would take longer than everything else here.
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into audit_log (id, org_id, at, actor, via, action, result, request_id, after)
     select 'audit_' || n, $1, now() - n * interval '1 second', '{"kind":"system"}', 'rest', 'update_service', 'done', 'req_' || n,
       json_build_object('name', md5(n::text)) from generate_series(1, $2::int) n`,
    [firstRun.organizationId, AUDIT_ROWS],
  );
  await client.end();
  await clickhouse.command({
    query: `INSERT INTO metric_series (service_id, metric, series, last_at, tags)
      SELECT '${SERVICE}', concat('metric_', toString(number % 50)), number, now64(3), map('host', toString(number)) FROM numbers(${SERIES})`,
  });
  await clickhouse.command({
    query: `INSERT INTO metric_points (service_id, metric, series, ts, value, kind)
      SELECT '${SERVICE}', concat('metric_', toString(number % ${SERIES} % 50)), number % ${SERIES},
        now64(3) - toIntervalSecond(15 * intDiv(number, ${SERIES})), sin(number) * 100 + rand() % 10, 'gauge' FROM numbers(${POINTS})`,
  });
  await clickhouse.command({
    query: `INSERT INTO exception_events (service_id, group_id, event_id, at, received_at, level, payload)
      SELECT '${SERVICE}', '${SERVICE}', generateUUIDv4(), now64(3) - toIntervalSecond(number), now64(3), 'error',
        hex(randomString(${PAYLOAD_BYTES / 2})) FROM numbers(${EVENTS})`,
  });
}
