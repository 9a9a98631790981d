import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { type Row, rowsOf } from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { SentItemEntity } from '#storage/postgres/entities/sent.ts';
import type { IngestRefusalEntity } from '#storage/postgres/entities/services.ts';

/** The tables that count by service, kind, reason and hour. */
interface CountRows {
  readonly sent_items: Row<typeof SentItemEntity>;
  readonly ingest_refusals: Row<typeof IngestRefusalEntity>;
}

type CountTable = keyof CountRows;

/** Adds to the counts, all or nothing. Those of a service that is gone are left out. */
export async function addHourlyCounts<T extends CountTable>(
  { db }: Session,
  table: T,
  counts: readonly CountRows[T][],
): Promise<void> {
  if (counts.length === 0) return;
  const target: CountTable = table;
  const added = rowsOf('added', {
    service_id: ['text', counts.map(({ serviceId }) => serviceId)],
    kind: ['text', counts.map(({ kind }) => kind)],
    reason: ['text', counts.map(({ reason }) => reason)],
    hour: ['timestamptz', counts.map(({ hour }) => hour)],
    count: ['bigint', counts.map(({ count }) => count)],
    last_at: ['timestamptz', counts.map(({ lastAt }) => lastAt)],
  });
  await db
    .insertInto(target)
    .columns(['service_id', 'kind', 'reason', 'hour', 'count', 'last_at'])
    .expression(({ selectFrom }) =>
      selectFrom(added)
        .innerJoin('services as s', (join) =>
          join.onRef('s.id', '=', 'added.service_id').on('s.deleted_at', 'is', null),
        )
        .selectAll('added')
        // All processes lock rows in the same order.
        .orderBy('added.service_id')
        .orderBy('added.kind')
        .orderBy('added.reason')
        .orderBy('added.hour'),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['service_id', 'kind', 'reason', 'hour'])
        .doUpdateSet((eb) => ({
          count: eb(`${target}.count`, '+', eb.ref('excluded.count')),
          last_at: eb.fn('greatest', [`${target}.last_at`, 'excluded.last_at']),
        })),
    )
    .execute();
}

/** Lists the counts, the most frequent first. Whole hours are counted: the first is that in which `since` lies. */
export async function listHourlyCounts<T extends CountTable>(
  { db }: Session,
  table: T,
  serviceId: Id<'service'>,
  since: Temporal.Instant,
): Promise<Pick<CountRows[T], 'kind' | 'reason' | 'count' | 'lastAt'>[]> {
  return await db
    .selectFrom<CountTable>(table)
    .select(({ fn, cast }) => [
      'kind',
      'reason',
      cast<number>(fn.sum('count'), 'bigint').as('count'),
      fn.max('last_at').as('lastAt'),
    ])
    .where('service_id', '=', serviceId)
    .where('last_at', '>', since)
    .groupBy(['kind', 'reason'])
    .orderBy('count', 'desc')
    .orderBy('kind')
    .orderBy('reason')
    .execute();
}
