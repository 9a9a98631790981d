/** Makes the prepared stores; `npm ci` runs this at its end. A failure here only means a slower first start. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { migrateEvents, migratePostgresAndQueue, recordRelease } from '#entry/migrate.ts';
import { messageOf } from '#kernel/errors.ts';

import { startClickHouse } from '#infra/embedded/clickhouse.ts';
import { startPostgres } from '#infra/embedded/postgres.ts';
import { copyFolder } from './copy_folder.ts';
import { findPreparedStore, MADE_FOR, PREPARED_FOLDER, preparedFor } from './prepared_stores.ts';

/** Whoever runs `npm start` reads them; there is nothing in them yet that anybody may not see. */
const READABLE = { folderMode: 0o755, fileMode: 0o644, owner: null, isDurable: false } as const;

const began = performance.now();
if (findPreparedStore('postgres') !== null) {
  console.log('The stores of a first start are prepared already.');
} else {
  // As root the server runs as another user, who must be able to pass through.
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-stores-'));
  chmodSync(folder, 0o711);
  try {
    await makeStores(folder);
    await keepStores(folder);
    console.log(`Prepared the stores of a first start in ${((performance.now() - began) / 1000).toFixed(1)} s.`);
  } catch (error) {
    console.log(`Could not prepare stores; the first start will be slower: ${messageOf(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeStores(folder: string): Promise<void> {
  const [postgres, clickhouse] = await Promise.all([
    startPostgres(path.join(folder, 'postgres'), { durable: false }),
    startClickHouse(path.join(folder, 'clickhouse')),
  ]);
  try {
    await Promise.all([
      migratePostgresAndQueue({ databaseUrl: postgres.url, redisUrl: undefined }),
      migrateEvents({ clickhouseUrl: clickhouse.url }),
    ]);
    await recordRelease({ databaseUrl: postgres.url, redisUrl: undefined });
  } finally {
    await Promise.all([postgres.stop(), clickhouse.stop()]);
  }
}

/** Puts them where a start looks for them, all at once. */
async function keepStores(folder: string): Promise<void> {
  mkdirSync(path.dirname(PREPARED_FOLDER), { recursive: true });
  const draft = mkdtempSync(`${PREPARED_FOLDER}-`);
  chmodSync(draft, READABLE.folderMode);
  await copyFolder(path.join(folder, 'postgres/data'), path.join(draft, 'postgres'), READABLE);
  await copyFolder(path.join(folder, 'clickhouse/store'), path.join(draft, 'clickhouse'), READABLE);
  writeFileSync(path.join(draft, MADE_FOR), preparedFor());
  rmSync(PREPARED_FOLDER, { recursive: true, force: true });
  renameSync(draft, PREPARED_FOLDER);
}
