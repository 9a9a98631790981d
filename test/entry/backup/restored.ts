import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { finished } from 'node:stream/promises';

import pg from 'pg';
import { expect, inject } from 'vitest';

import { writeBackup } from '#entry/backup/write_backup.ts';
import { type AppContext, compose } from '#entry/compose.ts';
import { buildApp } from '#entry/http/app.ts';
import type { RunningConfig } from '#entry/config.ts';
import { silentLog } from '#kernel/log.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { atEndOfFile } from '#test/kit/at_end_of_file.ts';
import type { TestClock } from '#test/kit/clock.ts';
import type { StaffedWorld } from '#test/kit/staffed_world.ts';
import { withDatabase } from '#test/kit/templates.ts';

export const BACKUP_KEY = 'a key of the backup';

export async function backUp(config: RunningConfig): Promise<{ file: string; snapshotAt: string }> {
  const file = path.join(makeFolder('file'), 'backup');
  const sink = createWriteStream(file);
  const { snapshotAt } = await writeBackup(config, sink);
  sink.end();
  await finished(sink);
  return { file, snapshotAt };
}

/** Stores in which nothing is, as those of a new installation. */
export async function emptyTarget(source: RunningConfig): Promise<RunningConfig> {
  const name = `r_${randomBytes(6).toString('hex')}`;
  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const clickhouse = openClickHouse({ clickhouseUrl: inject('clickhouseUrl') });
  await clickhouse.command({ query: `CREATE DATABASE ${name}` });
  await clickhouse.close();
  return {
    ...source,
    dataDir: makeFolder('file'),
    databaseUrl: withDatabase(inject('postgresUrl'), name),
    clickhouseUrl: withDatabase(inject('clickhouseUrl'), name),
  };
}

export interface Restored {
  readonly context: AppContext;
  readonly app: Awaited<ReturnType<typeof buildApp>>;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into results of any shape
  ask(action: string, body?: object): Promise<any>;
}

/** Opens what was restored, until the file is over. */
export async function open(config: RunningConfig, clock: TestClock, key: string): Promise<Restored> {
  const context = await compose(config, { log: silentLog, clock });
  const app = await buildApp(context);
  atEndOfFile(async () => {
    await app.close();
    await context.close();
  });
  return {
    context,
    app,
    async ask(action, body = {}) {
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      const url = `/api/rest/actions/${action}`;
      const answer = await app.inject({ method: 'POST', url, headers, payload: JSON.stringify(body) });
      expect({ action, status: answer.statusCode }).toEqual({ action, status: 200 });
      return answer.json().result;
    },
  };
}

export async function sendEvent(w: StaffedWorld, dsn: string, message: string): Promise<void> {
  const { username, pathname } = new URL(dsn);
  const url = `/api${pathname}/store/?sentry_key=${username}`;
  expect((await w.app.inject({ method: 'POST', url, payload: { message } })).statusCode).toBe(200);
}

export async function sendPoint(w: StaffedWorld, ingestionKey: string, index: number): Promise<void> {
  const answer = await w.app.inject({
    method: 'POST',
    url: '/api/ingest/metrics',
    headers: { authorization: `Bearer ${ingestionKey}`, 'content-type': 'application/json' },
    payload: { points: [{ name: 'cpu', value: index, labels: { index: String(index) } }] },
  });
  expect(answer.statusCode).toBe(202);
}
