import { type Expression, type RawBuilder, sql } from 'kysely';

import type { Occasion } from '#modules/rules/decide/replay_exceptions.ts';
import type { Fix } from '#modules/exceptions/decide/fix.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, field, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { GroupFixEntity, GroupRegressionEntity } from '#storage/postgres/entities/exceptions.ts';

/** Groups of a service by release. A group that is part of another one is not counted beside it. */
interface ReleaseGroups {
  readonly release: string;
  /** Groups whose first event came from this release. */
  readonly begun: number;
  /** Groups that came back in this release after they were resolved. */
  readonly regressed: number;
  /** Groups that are resolved: fixed in this release, or resolved when it was their last release. */
  readonly resolved: number;
}

type GroupNews = 'new' | 'regressed' | 'resolved';

/** Stores in which releases groups begin, come back and are fixed. */
export class GroupReleaseStore extends PostgresStore {
  /** Remembers the fix of a decision, and that of the decision before it, which may be taken back. */
  async saveFix(
    groupId: Id<'group'>,
    fix: Fix,
    { decidedAt, replacedAt }: { readonly decidedAt: Temporal.Instant; readonly replacedAt: Temporal.Instant },
  ): Promise<void> {
    const { db } = this;
    await db.deleteFrom('group_fixes').where('group_id', '=', groupId).where('decided_at', '<>', replacedAt).execute();
    await db
      .insertInto('group_fixes')
      .values(toColumns(GroupFixEntity, { groupId, decidedAt, ...fix }))
      .onConflict((conflict) =>
        conflict.columns(['group_id', 'decided_at']).doUpdateSet(toColumns(GroupFixEntity, { ...fix })),
      )
      .execute();
  }

  /** Returns the fixes of the decisions behind the groups' statuses; a group without one is absent. */
  async listFixes(groupIds: readonly Id<'group'>[]): Promise<Map<Id<'group'>, Fix>> {
    if (groupIds.length === 0) return new Map();
    const fixes = await this.selectFrom('group_fixes as f')
      .innerJoin('exception_groups as g', (join) =>
        join.onRef('g.id', '=', 'f.group_id').onRef('g.status_changed_at', '=', 'f.decided_at'),
      )
      .select(columns(GroupFixEntity, 'f', ['groupId', 'kind', 'release', 'knownReleases']))
      .where('f.group_id', '=', anyOf(groupIds))
      .execute();
    return new Map(fixes.map(({ groupId, ...fix }) => [groupId, fix]));
  }

  async addRegressions(regressions: readonly Row<typeof GroupRegressionEntity>[]): Promise<void> {
    if (regressions.length === 0) return;
    await this.insertInto('group_regressions')
      .values(regressions.map((row) => toColumns(GroupRegressionEntity, row)))
      .onConflict((conflict) =>
        conflict.columns(['group_id', 'release']).doUpdateSet((eb) => ({ at: eb.ref('excluded.at') })),
      )
      .execute();
  }

  /** The release in which a group came back at that time; null when its event named none. */
  async findRegression(groupId: Id<'group'>, at: Temporal.Instant): Promise<string | null> {
    const regression = await this.selectFrom('group_regressions')
      .select('release')
      .where('group_id', '=', groupId)
      .where('at', '=', at)
      .executeTakeFirst();
    return regression?.release ?? null;
  }

  async countByRelease(serviceId: Id<'service'>): Promise<ReleaseGroups[]> {
    const [begun, regressed, resolved] = await Promise.all([
      this.#own(serviceId)
        .select(({ fn, cast }) => ['g.first_release as release', cast<number>(fn.countAll(), 'integer').as('count')])
        .where('g.first_release', 'is not', null)
        .groupBy('g.first_release')
        .execute(),
      this.#own(serviceId)
        .innerJoin('group_regressions as r', 'r.group_id', 'g.id')
        .select(({ fn, cast }) => ['r.release', cast<number>(fn.countAll(), 'integer').as('count')])
        .groupBy('r.release')
        .execute(),
      this.#own(serviceId)
        .select(({ ref, fn, cast }) => [
          resolvedIn(ref).as('release'),
          cast<number>(fn.countAll(), 'integer').as('count'),
        ])
        .where(({ ref }) => sql<boolean>`${resolvedIn(ref)} is not null`)
        .groupBy(({ ref }) => resolvedIn(ref))
        .execute(),
    ]);
    const counts = new Map<string, ReleaseGroups>();
    const add = (rows: readonly Counted[], name: Exclude<keyof ReleaseGroups, 'release'>): void => {
      for (const { release, count } of rows) {
        if (release === null) continue;
        const counted = counts.get(release) ?? { release, begun: 0, regressed: 0, resolved: 0 };
        counts.set(release, { ...counted, [name]: count });
      }
    };
    add(begun, 'begun');
    add(regressed, 'regressed');
    add(resolved, 'resolved');
    return [...counts.values()];
  }

  /** Lists when groups of a service began, and when they came back, since then; the newest first, at most `limit`. */
  async listBegunOrBack(serviceId: Id<'service'>, since: Temporal.Instant, limit: number): Promise<Occasion[]> {
    const { db } = this;
    const back = db
      .selectFrom('group_activity as a')
      .innerJoin('exception_groups as g', 'g.id', 'a.group_id')
      .select(({ ref }) => [
        'g.id as groupId',
        'g.title',
        sql<Occasion['outcome']>`'regression'`.as('outcome'),
        'a.at',
        field<string>(ref('a.facts'), 'release').as('release'),
      ])
      .where('g.service_id', '=', serviceId)
      .where('a.at', '>=', since)
      .where(({ ref, eb }) => eb(field<string>(ref('a.facts'), 'kind'), '=', 'regressed'));
    const begun = db
      .selectFrom('exception_groups as g')
      .select(['g.id as groupId', 'g.title'])
      .select([
        sql<Occasion['outcome']>`'new'`.as('outcome'),
        'g.created_at as at',
        sql<string | null>`null::text`.as('release'),
      ])
      .where('g.service_id', '=', serviceId)
      .where('g.created_at', '>=', since);
    return await db
      .selectFrom(begun.unionAll(back).as('o'))
      .selectAll()
      .orderBy('o.at', 'desc')
      .orderBy('o.groupId')
      .limit(limit)
      .execute();
  }

  /** Returns the role of a release for each of these groups; a group without one is absent. */
  async listNews(
    serviceId: Id<'service'>,
    release: string,
    groupIds: readonly Id<'group'>[],
  ): Promise<Map<Id<'group'>, GroupNews>> {
    const rows = await this.#own(serviceId)
      .leftJoin('group_regressions as r', (join) => join.onRef('r.group_id', '=', 'g.id').on('r.release', '=', release))
      .select(['g.id', 'g.first_release as firstRelease', 'r.at as regressedAt'])
      .select(({ ref }) => resolvedIn(ref).as('resolvedIn'))
      .where('g.id', '=', anyOf(groupIds))
      .execute();
    return new Map(
      rows.flatMap(({ id, firstRelease, regressedAt, resolvedIn }): [Id<'group'>, GroupNews][] => {
        if (firstRelease === release) return [[id, 'new']];
        if (regressedAt !== null) return [[id, 'regressed']];
        return resolvedIn === release ? [[id, 'resolved']] : [];
      }),
    );
  }

  /** Groups that are part of no other, each with the release in which it is said to be fixed. */
  #own(serviceId: Id<'service'>) {
    return this.selectFrom('exception_groups as g')
      .leftJoin('group_fixes as f', (join) =>
        join
          .onRef('f.group_id', '=', 'g.id')
          .onRef('f.decided_at', '=', 'g.status_changed_at')
          .on('f.kind', '=', 'release'),
      )
      .where('g.service_id', '=', serviceId)
      .where('g.merged_into_id', 'is', null);
  }
}

interface Counted {
  readonly release: string | null;
  readonly count: number;
}

type Ref = (column: 'g.status' | 'f.release' | 'g.resolved_in_release') => Expression<unknown>;

/** Null for a group that is not resolved. */
function resolvedIn(ref: Ref): RawBuilder<string | null> {
  const release = sql`coalesce(${ref('f.release')}, ${ref('g.resolved_in_release')})`;
  return sql<string | null>`case when ${ref('g.status')} = 'resolved' then ${release} end`;
}
