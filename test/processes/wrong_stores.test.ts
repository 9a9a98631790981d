import { execFile } from 'node:child_process';

import { expect, inject, test } from 'vitest';

import { loadConfig } from '#entry/config.ts';
import { migrate } from '#entry/migrate.ts';
import { type World, world } from '#test/kit/world.ts';

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

/** A program of the product, under plain Node, on the stores of this world. */
function run(w: World, program: readonly string[], settings: Record<string, string>): Promise<Ended> {
  const { databaseUrl, clickhouseUrl, appSecret, dataDir } = w.context.config;
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: 'node_modules/.cache/node',
    DATABASE_URL: databaseUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    APP_SECRET: appSecret,
    DATA_DIR: dataDir,
    ...settings,
  };
  return new Promise((resolve) => {
    execFile(process.execPath, [...program], { env }, (error, _stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stderr });
    });
  });
}

const OTHER_SECRET = 'another secret that is long enough for tests';
const SAYS =
  'tocsin: APP_SECRET is not the one that this database was set up with: set it to that of the other processes, or name another database in DATABASE_URL\n';

test('a second installation with another secret is refused by every program, before it changes anything', async () => {
  const w = await world({ fresh: true });
  await migrate(w.context.config);
  const [stored] = await w.context.db.sql.rows<{ secret_fingerprint: string }>('select * from installation');
  expect(stored?.secret_fingerprint).toMatch(/^[0-9a-f]{32}$/);
  // The same secret as often as it likes.
  await migrate(w.context.config);
  await w.context.db.sql.run(`update migrated_by set release = 'as before'`);
  const refused = await Promise.all(
    [['src/entry/api.ts'], ['src/entry/cli.ts', 'org', 'create', '--name', 'x']].map((program) =>
      run(w, program, { APP_SECRET: OTHER_SECRET }),
    ),
  );
  for (const ended of refused) expect(ended).toEqual({ code: 2, stderr: SAYS });
  await expect(migrate({ ...w.context.config, appSecret: OTHER_SECRET })).rejects.toThrow('APP_SECRET is not the one');
  expect(await w.context.db.sql.rows('select release from migrated_by')).toEqual([{ release: 'as before' }]);
  expect(await w.context.db.sql.rows('select secret_fingerprint from installation')).toEqual([
    { secret_fingerprint: stored?.secret_fingerprint },
  ]);
});

test('of two first starts with different secrets at the same time one is refused', async () => {
  const w = await world({ fresh: true });
  const starts = [w.context.config, { ...w.context.config, appSecret: OTHER_SECRET }];
  const ended = await Promise.allSettled(starts.map((config) => migrate(config)));
  expect(ended.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('a cluster that ClickHouse does not know is a sentence, and nothing is made', async () => {
  const w = await world({ fresh: true });
  const ended = await run(w, ['src/entry/cli.ts', 'migrate'], { CLICKHOUSE_CLUSTER: 'no-such-cluster' });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(
    /^tocsin: CLICKHOUSE_URL: ClickHouse knows no cluster "no-such-cluster".*: correct CLICKHOUSE_CLUSTER, or add the cluster to remote_servers\n$/,
  );
});

test('each part of an address that names several servers names a host', () => {
  const address = `${inject('clickhouseUrl')},`;
  expect(() => loadConfig({ CLICKHOUSE_URL: address })).toThrow('CLICKHOUSE_URL names no host');
});

test('a command that cannot reach PostgreSQL names the address that it uses', async () => {
  const w = await world({ fresh: true });
  const nobody = 'postgres://app@127.0.0.1:1/tocsin';
  const ended = await run(w, ['src/entry/cli.ts', 'org', 'list'], { DIRECT_DATABASE_URL: nobody });
  const says = 'PostgreSQL does not answer at 127.0.0.1:1; start it there, or correct the address';
  expect(ended).toEqual({ code: 2, stderr: `tocsin: DIRECT_DATABASE_URL: ${says}\n` });
});
