import { expect, test } from 'vitest';

import { KeptBytes } from '#infra/migrations/postgres/0018_kept_bytes.ts';
import { KeptJobs } from '#infra/migrations/postgres/0015_kept_jobs.ts';
import { packBytes } from '#ingest/packing/pack_bytes.ts';
import { world } from '#test/kit/world.ts';

test('jobs from before the migration can be read after it', async () => {
  const { context } = await world({ fresh: true });
  const packed = ['short', 'long '.repeat(1_000)].map((text) => packBytes(Buffer.from(text)));
  await context.db.sql.run('drop table kept_jobs');
  await up(KeptJobs);
  for (const [index, bytes] of packed.entries()) {
    await context.db.sql.run('insert into kept_jobs (id, job_name, payload) values ($1, $2, $3)', [
      `job_${index}`,
      'group_exceptions',
      JSON.stringify({ packed: textOf(bytes) }),
    ]);
  }
  await up(KeptBytes);

  const kept = await context.db.sql.rows('select kept_id as "keptId", payload as bytes from kept_jobs order by 1');
  expect(kept).toEqual(packed.map((bytes, index) => ({ keptId: `job_${index}`, bytes })));

  async function up(Change: typeof KeptJobs | typeof KeptBytes): Promise<void> {
    const change = new Change(context.db.em.getDriver(), context.db.em.config);
    change.up();
    for (const query of change.getQueries()) await context.db.sql.run(query as string);
  }
});

/** As it was written before. */
function textOf(bytes: Buffer): string {
  const length = bytes.readUInt32BE();
  return `${length === 0 ? 'plain' : length}:${bytes.subarray(4).toString('base64')}`;
}
