import type { GroupingPart } from '#modules/exceptions/decide/grouping.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore } from '#storage/postgres/store.ts';

/** A group that is part of another one. */
interface MergedGroup {
  readonly groupId: Id<'group'>;
  readonly intoId: Id<'group'>;
  readonly title: string;
  readonly groupingParts: readonly GroupingPart[];
  readonly mergedAt: Temporal.Instant;
}

/** Merges groups and splits them off again. A merged group keeps its row, so nothing of it is lost. */
export class GroupMergeStore extends PostgresStore {
  /** Lists the groups merged into these groups, oldest first. */
  async list(groupIds: readonly Id<'group'>[]): Promise<MergedGroup[]> {
    return await this.selectFrom('exception_groups')
      .select((eb) => [
        'id as groupId',
        eb.ref('merged_into_id').$notNull().as('intoId'),
        'title',
        'grouping_parts as groupingParts',
        eb.ref('merged_at').$notNull().as('mergedAt'),
      ])
      .where('merged_into_id', '=', anyOf(groupIds))
      .orderBy('merged_at')
      .orderBy('id')
      .execute();
  }

  /** All of a service that are part of another one, each with the one that takes its events. */
  async listOfService(serviceId: Id<'service'>): Promise<{ groupId: Id<'group'>; intoId: Id<'group'> }[]> {
    return await this.selectFrom('exception_groups')
      .select((eb) => ['id as groupId', eb.ref('merged_into_id').$notNull().as('intoId')])
      .where('service_id', '=', serviceId)
      .where('merged_into_id', 'is not', null)
      .execute();
  }

  /** The groups that take the events of these. */
  async listTakers(groupIds: readonly Id<'group'>[]): Promise<Id<'group'>[]> {
    const rows = await this.selectFrom('exception_groups')
      .select((eb) => eb.ref('merged_into_id').$notNull().as('takerId'))
      .distinct()
      .where('id', '=', anyOf(groupIds))
      .where('merged_into_id', 'is not', null)
      .execute();
    return rows.map(({ takerId }) => takerId);
  }

  /** The groups with the ids of what is part of them: their events are read together. */
  async withMerged<Group extends { readonly id: Id<'group'> }>(
    groups: readonly Group[],
  ): Promise<(Group & { readonly mergedIds: readonly Id<'group'>[] })[]> {
    const merged = groups.length === 0 ? [] : await this.list(groups.map(({ id }) => id));
    const byTaker = Map.groupBy(merged, ({ intoId }) => intoId);
    return groups.map((group) => ({
      ...group,
      mergedIds: (byTaker.get(group.id) ?? []).map(({ groupId }) => groupId),
    }));
  }

  /** The groups, and all that are part of them, are part of the other from now on. The caller holds their locks. */
  async merge(groupIds: readonly Id<'group'>[], intoId: Id<'group'>, now: Temporal.Instant): Promise<void> {
    const { db } = this;
    await db
      .updateTable('exception_groups')
      .set({ merged_into_id: intoId, merged_at: now, updated_at: now })
      .where(({ or, eb }) => or([eb('id', '=', anyOf(groupIds)), eb('merged_into_id', '=', anyOf(groupIds))]))
      .execute();
    await db
      .updateTable('exception_groups as g')
      .set((eb) => ({
        last_seen_at: eb.fn<Temporal.Instant>('greatest', [
          'g.last_seen_at',
          eb
            .selectFrom('exception_groups as m')
            .select((m) => m.fn.max('m.last_seen_at').as('at'))
            .whereRef('m.merged_into_id', '=', 'g.id'),
        ]),
        updated_at: now,
      }))
      .where('g.id', '=', intoId)
      .execute();
  }

  /** The group is one of its own again. */
  async split(groupId: Id<'group'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('exception_groups')
      .set({ merged_into_id: null, merged_at: null, updated_at: now })
      .where('id', '=', groupId)
      .execute();
  }

  /**
   * Merges the groups of these keys, which turned out to be one; returns the keys of those that were merged or have no
   * group yet. One about which people have decided otherwise stays.
   */
  async mergeByKey(
    serviceId: Id<'service'>,
    keys: readonly string[],
    intoKey: string,
    now: Temporal.Instant,
  ): Promise<readonly string[]> {
    const rows = await this.selectFrom('exception_groups')
      .select(['id', 'key', 'status', 'merged_into_id as mergedIntoId'])
      .where('service_id', '=', serviceId)
      .where('key', '=', anyOf([intoKey, ...keys]))
      .orderBy('key')
      .forUpdate()
      .execute();
    const into = rows.find(({ key }) => key === intoKey);
    if (into === undefined) return keys.filter((key) => rows.every((group) => group.key !== key));
    const others = rows.filter(({ key, status }) => key !== intoKey && status !== into.status);
    const alike = rows.filter(({ key, status }) => key !== intoKey && status === into.status);
    if (alike.length > 0)
      await this.merge(
        alike.map(({ id }) => id),
        into.mergedIntoId ?? into.id,
        now,
      );
    return keys.filter((key) => others.every((group) => group.key !== key));
  }
}
