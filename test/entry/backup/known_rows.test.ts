import { expect, onTestFinished, test } from 'vitest';

import { connect, continueSequences, requireKnown, writeSequences } from '#entry/backup/postgres_rows.ts';
import { world } from '#test/kit/world.ts';

const TABLES = [{ table: 'teams', columns: ['id', 'name'] }];

test('a backup that somebody changed names no table, column or sequence that no database has', async () => {
  expect(() => requireKnown({ table: 'teams', columns: ['name'] }, TABLES)).not.toThrow();
  expect(() => requireKnown({ table: 'pg_authid', columns: ['rolname'] }, TABLES)).toThrow('not as it was written');
  expect(() => requireKnown({ table: 'teams', columns: ['secret'] }, TABLES)).toThrow('not as it was written');
});

test('what a database numbers next is greater than what there is, whatever a backup says', async () => {
  const w = await world();
  await w.given.service();
  await w.given.service();
  const client = await connect(w.context.config.databaseUrl);
  onTestFinished(() => client.end());
  const next = async (): Promise<number> => {
    await w.given.service();
    const [last] = await w.context.db.sql.rows<{ id: number }>('select max(project_id)::int as id from services');
    return last?.id ?? 0;
  };
  await writeSequences(client, { services_project_id_seq: '1' });
  await continueSequences(client);
  expect(await next()).toBeGreaterThan(2);
  await writeSequences(client, { services_project_id_seq: '900' });
  await continueSequences(client);
  expect(await next()).toBe(901);
  await expect(writeSequences(client, { services_project_id_seq: '9223372036854775807' })).rejects.toThrow('sequence');
  await expect(writeSequences(client, { migrations_id_seq: '-1' })).rejects.toThrow('sequence');
});
