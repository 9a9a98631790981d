import {
  type Expression,
  type ExpressionBuilder,
  type OnConflictDatabase,
  type OnConflictTables,
  type RawBuilder,
  sql,
} from 'kysely';

import { type GroupTotals, outdatedAt } from '#modules/exceptions/decide/group_counts.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  anyOf,
  columns,
  PostgresStore,
  prepared,
  recordsOf,
  type Row,
  rowsOf,
  toRecords,
  type Values,
} from '#storage/postgres/store.ts';
import type { Json } from '#storage/postgres/tables.ts';
import { ExceptionGroupCountsEntity } from '#storage/postgres/entities/exceptions.ts';
import type { GroupPlace } from '#modules/exceptions/store/exception_group_store.ts';
import type { Tables } from '#storage/postgres/tables.ts';

export type GroupCountsRow = Row<typeof ExceptionGroupCountsEntity>;

/** A group that was taken to be counted. */
export type TakenGroup = GroupPlace & { readonly orgId: Id<'org'>; readonly takenUntil: Temporal.Instant };

export interface CountedGroup {
  readonly group: TakenGroup;
  readonly totals: GroupTotals;
  readonly restsUntil: Temporal.Instant;
}

/** Time that a process has to count a group; after it, a group whose count never came is taken again. */
const TAKEN = { minutes: 2 };

type WithExcluded = OnConflictDatabase<Tables, 'exception_group_counts'>;

/** Returns when a marked group is due: after its rest. */
function soonest({ fn }: ExpressionBuilder<WithExcluded, OnConflictTables<'exception_group_counts'>>) {
  return fn<Temporal.Instant>('greatest', ['excluded.due_at', 'exception_group_counts.rests_until']);
}

/** Names whose turn it is, also for rows of a release that did not. */
function owner({ ref }: ExpressionBuilder<WithExcluded, OnConflictTables<'exception_group_counts'>>) {
  return { org_id: ref('excluded.org_id'), service_id: ref('excluded.service_id') };
}

/** A group that rests is due after that; one that is due already stays so. */
const MARK_DUE = prepared(
  (db, { groupIds, now }: Values<{ groupIds: readonly Id<'group'>[]; now: Temporal.Instant }>) =>
    db
      .insertInto('exception_group_counts')
      .columns(['group_id', 'org_id', 'service_id', 'due_at'])
      .expression((eb) =>
        eb
          .selectFrom('exception_groups as g')
          .select(['g.id', 'g.org_id', 'g.service_id', sql<Temporal.Instant>`${now}::timestamptz`.as('due_at')])
          .where('g.id', '=', anyOf(groupIds))
          .orderBy('g.id'),
      )
      .onConflict((conflict) =>
        conflict
          .column('group_id')
          .doUpdateSet((eb) => ({ ...owner(eb), due_at: soonest(eb) }))
          .where((eb) =>
            eb.or([
              eb('exception_group_counts.due_at', 'is', null),
              eb('exception_group_counts.due_at', '>', soonest(eb)),
            ]),
          ),
      ),
);

/** Stores the counts over the events of groups. */
export class ExceptionCountStore extends PostgresStore {
  /** Returns counts by group id; a group that nobody has counted yet is absent. */
  async find(groupIds: readonly Id<'group'>[]): Promise<Map<Id<'group'>, GroupCountsRow>> {
    const rows = await this.selectFrom('exception_group_counts as c')
      .select(columns(ExceptionGroupCountsEntity, 'c'))
      .where('c.group_id', '=', anyOf(groupIds))
      .where('c.counted_at', 'is not', null)
      .execute();
    return new Map(rows.map((row) => [row.groupId, row]));
  }

  /** Call it once the events of these groups can be read. */
  async markDue(groupIds: readonly Id<'group'>[], now: Temporal.Instant): Promise<void> {
    if (groupIds.length > 0) await MARK_DUE.rows(this.session, { groupIds, now });
  }

  /** The service keeps events for a shorter or longer time from now on. */
  async markServiceDue(serviceId: Id<'service'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('exception_group_counts as c')
      .from('exception_groups as g')
      .set({ due_at: now })
      .whereRef('g.id', '=', 'c.group_id')
      .where('g.service_id', '=', serviceId)
      .execute();
  }

  /** Groups to which events have come that nobody marked, as those of a release that counts nothing. */
  async markMissed(now: Temporal.Instant): Promise<void> {
    await this.insertInto('exception_group_counts')
      .columns(['group_id', 'org_id', 'service_id', 'due_at'])
      .expression((eb) =>
        eb
          .selectFrom('exception_groups as g')
          .leftJoin('exception_group_counts as c', 'c.group_id', 'g.id')
          .select(['g.id', 'g.org_id', 'g.service_id', sql<Temporal.Instant>`${now}::timestamptz`.as('due_at')])
          .where(({ eb: is, or }) =>
            or([is('c.group_id', 'is', null), is('g.last_seen_at', '>', is.ref('c.counted_at'))]),
          )
          .orderBy('g.id'),
      )
      .onConflict((conflict) =>
        conflict.column('group_id').doUpdateSet((eb) => ({ ...owner(eb), due_at: soonest(eb) })),
      )
      .execute();
  }

  /**
   * Takes up to `limit` groups that are due, so that nobody else counts them meanwhile. Beyond the limit, organizations
   * have equal turns, and so have the services of each. `busy` organizations are left out.
   */
  async takeDue(now: Temporal.Instant, limit: number, busy: readonly Id<'org'>[] = []): Promise<TakenGroup[]> {
    const groupIds = await this.#listDue(now, limit, busy);
    if (groupIds.length === 0) return [];
    const takenUntil = now.add(TAKEN);
    const taken = await this.db
      .with('due', (db) =>
        db
          .selectFrom('exception_group_counts')
          .select('group_id')
          .where('group_id', '=', anyOf(groupIds))
          .where('due_at', '<=', now)
          .forUpdate()
          .skipLocked(),
      )
      .updateTable('exception_group_counts as c')
      .from('due')
      .innerJoin('exception_groups as g', 'g.id', 'due.group_id')
      .innerJoin('services as s', 's.id', 'g.service_id')
      .set({ due_at: takenUntil, rests_until: null })
      .whereRef('c.group_id', '=', 'due.group_id')
      .returning(['g.id', 'g.org_id as orgId', 'g.service_id as serviceId', 's.retention_exceptions as retentionDays'])
      .execute();
    return taken.map((group) => ({ ...group, takenUntil }));
  }

  async #listDue(now: Temporal.Instant, limit: number, busy: readonly string[]): Promise<Id<'group'>[]> {
    const oldest = await this.selectFrom('exception_group_counts')
      .select(['group_id', 'org_id'])
      .where('due_at', '<=', now)
      .orderBy('due_at')
      .limit(limit + 1)
      .execute();
    const due = oldest.length > limit ? await this.#listTurns(now, limit, busy) : oldest;
    return due.filter(({ org_id }) => !busy.includes(org_id)).map(({ group_id }) => group_id);
  }

  /** Returns the oldest group of each service, then the second of each, the organizations in turn. */
  async #listTurns(now: Temporal.Instant, limit: number, busy: readonly string[]) {
    const { db } = this;
    const due = db
      .withRecursive('owners', (recursive) =>
        recursive
          .selectFrom(
            recursive
              .selectFrom('exception_group_counts')
              .select(['org_id', 'service_id'])
              .where('due_at', 'is not', null)
              .orderBy('org_id')
              .orderBy('service_id')
              .limit(1)
              .as('first'),
          )
          .selectAll()
          .unionAll(
            recursive
              .selectFrom('owners')
              .crossJoinLateral(({ selectFrom }) =>
                selectFrom('exception_group_counts as c')
                  .select(['c.org_id', 'c.service_id'])
                  .where('c.due_at', 'is not', null)
                  .where(({ eb, refTuple }) =>
                    eb(refTuple('c.org_id', 'c.service_id'), '>', refTuple('owners.org_id', 'owners.service_id')),
                  )
                  .orderBy('c.org_id')
                  .orderBy('c.service_id')
                  .limit(1)
                  .as('next'),
              )
              .selectAll('next'),
          ),
      )
      .selectFrom('owners')
      .crossJoinLateral(({ selectFrom }) =>
        selectFrom('exception_group_counts as c')
          .select(['c.group_id', 'c.due_at'])
          .whereRef('c.org_id', '=', 'owners.org_id')
          .whereRef('c.service_id', '=', 'owners.service_id')
          .where('c.due_at', '<=', now)
          .orderBy('c.due_at')
          .limit(limit)
          .as('c'),
      )
      .where(({ not, eb }) => not(eb('owners.org_id', '=', anyOf(busy))))
      .select(['c.group_id', 'c.due_at', 'owners.org_id'])
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) => over.partitionBy(['owners.org_id', 'owners.service_id']).orderBy('c.due_at'))
          .as('nth'),
      );
    return await db
      .selectFrom(due.as('d'))
      .select(['d.group_id', 'd.org_id'])
      .orderBy(({ fn }) =>
        fn.agg<number>('row_number').over((over) => over.partitionBy('d.org_id').orderBy('d.nth').orderBy('d.due_at')),
      )
      .orderBy('d.due_at')
      .limit(limit)
      .execute();
  }

  /** A group that was marked since it was taken stays due. */
  async save(counted: readonly CountedGroup[], now: Temporal.Instant): Promise<void> {
    if (counted.length === 0) return;
    const rows = counted.map(({ group, totals, restsUntil }) => ({
      groupId: group.id,
      ...totals,
      countedAt: now,
      dueAt: outdatedAt(totals, group.retentionDays),
      restsUntil,
    }));
    const taken = rowsOf('t', {
      group_id: ['text', counted.map(({ group }) => group.id)],
      taken_until: ['timestamptz', counted.map(({ group }) => group.takenUntil)],
    });
    await this.updateTable('exception_group_counts as c')
      .from(recordsOf('u', ExceptionGroupCountsEntity, toRecords(rows)))
      .innerJoin(taken, 't.group_id', 'u.group_id')
      .set((eb) => ({
        events: eb.ref('u.events'),
        users: eb.ref('u.users'),
        is_handled: eb.ref('u.is_handled'),
        days: asJson(eb.ref('u.days')),
        environments: asJson(eb.ref('u.environments')),
        releases: asJson(eb.ref('u.releases')),
        releases_total: eb.ref('u.releases_total'),
        counted_at: eb.ref('u.counted_at'),
        rests_until: eb.ref('u.rests_until'),
        due_at: eb
          .case()
          .when('c.due_at', '=', eb.ref('t.taken_until'))
          .then(eb.ref('u.due_at'))
          .else(eb.fn<Temporal.Instant>('greatest', ['c.due_at', 'u.rests_until']))
          .end(),
      }))
      .whereRef('c.group_id', '=', 'u.group_id')
      .execute();
  }
}

/** A `json` column of records, to be written to a `json` column. */
function asJson<T>(column: Expression<T>): RawBuilder<Json<T>> {
  return sql`${column}`;
}
