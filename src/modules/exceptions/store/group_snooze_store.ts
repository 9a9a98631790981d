import type { Snooze } from '#modules/exceptions/decide/snooze.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { GroupSnoozeEntity } from '#storage/postgres/entities/exceptions.ts';

/** A snooze that may have ended, with the service of its group. */
export type DueSnooze = Row<typeof GroupSnoozeEntity> & {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
};

/** Stores until when groups are snoozed: they are ignored, by a decision that ends by itself. */
export class GroupSnoozeStore extends PostgresStore {
  /** Remembers the snooze of a decision, and that of the decision before it, which may be taken back. */
  async save(
    groupId: Id<'group'>,
    { userId, ...snooze }: Snooze & { readonly userId: Id<'user'> | null },
    { decidedAt, replacedAt }: { readonly decidedAt: Temporal.Instant; readonly replacedAt: Temporal.Instant },
  ): Promise<void> {
    const { db } = this;
    await db
      .deleteFrom('group_snoozes')
      .where('group_id', '=', groupId)
      .where('decided_at', '<>', replacedAt)
      .execute();
    const values = { ...snooze, userId, checkedAt: null };
    await db
      .insertInto('group_snoozes')
      .values(toColumns(GroupSnoozeEntity, { groupId, decidedAt, ...values }))
      .onConflict((conflict) =>
        conflict.columns(['group_id', 'decided_at']).doUpdateSet(toColumns(GroupSnoozeEntity, values)),
      )
      .execute();
  }

  /** Returns the snoozes of groups that are snoozed now; the others are absent. */
  async find(groupIds: readonly Id<'group'>[]): Promise<Map<Id<'group'>, Row<typeof GroupSnoozeEntity>>> {
    if (groupIds.length === 0) return new Map();
    const rows = await this.#current()
      .select(columns(GroupSnoozeEntity, 's'))
      .where('s.group_id', '=', anyOf(groupIds))
      .execute();
    return new Map(rows.map((row) => [row.groupId, row]));
  }

  /**
   * Lists snoozes whose time has come, or whose groups had events that were not counted for them yet; at most `limit`,
   * the organizations in turn, of each those that were looked at longest ago first.
   */
  async listDue(now: Temporal.Instant, limit: number): Promise<DueSnooze[]> {
    const due = this.#current()
      .leftJoin('exception_group_counts as c', 'c.group_id', 's.group_id')
      .innerJoin('services as v', (join) => join.onRef('v.id', '=', 'g.service_id').on('v.deleted_at', 'is', null))
      .select(columns(GroupSnoozeEntity, 's'))
      .select(['g.org_id as orgId', 'g.service_id as serviceId'])
      .where(({ eb, and, or, fn }) =>
        or([
          eb('s.until', '<=', now),
          and([
            or([eb('s.events', 'is not', null), eb('s.users', 'is not', null)]),
            eb('c.counted_at', '>', fn.coalesce('s.checked_at', 's.decided_at')),
          ]),
        ]),
      )
      .select(({ fn }) =>
        fn
          .agg<number>('row_number')
          .over((over) =>
            over
              .partitionBy('g.org_id')
              .orderBy('s.checked_at', (order) => order.asc().nullsFirst())
              .orderBy('s.group_id'),
          )
          .as('turn'),
      );
    return await this.selectFrom(due.as('d'))
      .selectAll('d')
      .orderBy('d.turn')
      .orderBy('d.groupId')
      .limit(limit)
      .execute();
  }

  /**
   * Reopens the group if it is still snoozed by this decision, and locks it until the transaction ends. Returns whether
   * it did: a person's decision meanwhile, or another process, comes first.
   */
  async reopen({ groupId, decidedAt }: DueSnooze, now: Temporal.Instant): Promise<boolean> {
    const reopened = await this.updateTable('exception_groups')
      .set({ status: 'unresolved', status_changed_at: now, regressed_at: null, updated_at: now })
      .where('id', '=', groupId)
      .where('status', '=', 'ignored')
      .where('status_changed_at', '=', decidedAt)
      .execute();
    return rowsChanged(reopened) > 0;
  }

  async saveChecked({ groupId, decidedAt }: DueSnooze, now: Temporal.Instant): Promise<void> {
    await this.updateTable('group_snoozes')
      .set({ checked_at: now })
      .where('group_id', '=', groupId)
      .where('decided_at', '=', decidedAt)
      .execute();
  }

  /** Selects snoozes that count: of the decision behind the group's status. */
  #current() {
    return this.selectFrom('group_snoozes as s').innerJoin('exception_groups as g', (join) =>
      join
        .onRef('g.id', '=', 's.group_id')
        .onRef('g.status_changed_at', '=', 's.decided_at')
        .on('g.status', '=', 'ignored'),
    );
  }
}
