import { type Expression, type RawBuilder, sql } from 'kysely';

import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, holdLock, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { DeployEntity, ReleaseEntity } from '#storage/postgres/entities/releases.ts';

export type ReleaseRow = Row<typeof ReleaseEntity>;
export type DeployRow = Row<typeof DeployEntity>;

/** Fields that a build gives of a release; absent ones stay unchanged. */
export type ReleaseFields = Partial<
  Pick<ReleaseRow, 'url' | 'ref' | 'commits' | 'commitCount' | 'releasedAt' | 'archivedAt'>
>;

const NOTHING_SAID = { url: null, ref: null, commits: [], commitCount: 0, releasedAt: null, archivedAt: null };

export class ReleaseStore extends PostgresStore {
  /** Locked until the transaction ends; null when it is not known. */
  async lock(serviceId: Id<'service'>, version: string): Promise<ReleaseRow | null> {
    const row = await this.selectFrom('releases as r')
      .select(columns(ReleaseEntity, 'r'))
      .where('r.service_id', '=', serviceId)
      .where('r.version', '=', version)
      .forUpdate()
      .executeTakeFirst();
    return row ?? null;
  }

  /** Lists the release with this version of each service that has it, by service. */
  async listOfVersion(orgId: Id<'org'>, version: string): Promise<ReleaseRow[]> {
    return await this.#releases(orgId).where('r.version', '=', version).orderBy('r.service_id').execute();
  }

  /** The newest first; of some services. */
  async list(
    orgId: Id<'org'>,
    serviceIds: readonly Id<'service'>[],
    page: { readonly limit: number; readonly offset: number },
  ): Promise<ReleaseRow[]> {
    return await this.#releases(orgId)
      .where('r.service_id', '=', anyOf(serviceIds))
      .orderBy('r.created_at', 'desc')
      .orderBy('r.service_id')
      .orderBy('r.version')
      .limit(page.limit)
      .offset(page.offset)
      .execute();
  }

  /** Counts the releases of a service, so that a program cannot make any number of them. */
  async count(serviceId: Id<'service'>): Promise<number> {
    const { count } = await this.selectFrom('releases')
      .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
      .where('service_id', '=', serviceId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** False when it is known already. */
  async insert(
    { orgId, serviceId, version }: Pick<ReleaseRow, 'orgId' | 'serviceId' | 'version'>,
    fields: ReleaseFields,
    now: Temporal.Instant,
  ): Promise<boolean> {
    const row: ReleaseRow = { orgId, serviceId, version, ...NOTHING_SAID, ...fields, createdAt: now, updatedAt: now };
    const inserted = await this.insertInto('releases')
      .values(toColumns(ReleaseEntity, row))
      .onConflict((conflict) => conflict.columns(['service_id', 'version']).doNothing())
      .execute();
    return rowsChanged(inserted) > 0;
  }

  async update(serviceId: Id<'service'>, version: string, fields: ReleaseFields, now: Temporal.Instant): Promise<void> {
    await this.updateTable('releases')
      .set({ ...toColumns(ReleaseEntity, fields), updated_at: now })
      .where('service_id', '=', serviceId)
      .where('version', '=', version)
      .execute();
  }

  async remove(serviceId: Id<'service'>, version: string): Promise<void> {
    await this.deleteFrom('releases').where('service_id', '=', serviceId).where('version', '=', version).execute();
  }

  async titlesOfGroups(orgId: Id<'org'>, groupIds: readonly Id<'group'>[]): Promise<Map<Id<'group'>, string>> {
    const rows = await this.selectFrom('exception_groups')
      .select(['id', 'title'])
      .where('org_id', '=', orgId)
      .where('id', '=', anyOf(groupIds))
      .execute();
    return new Map(rows.map(({ id, title }) => [id, title]));
  }

  async addDeploy(deploy: Omit<DeployRow, 'id'>): Promise<DeployRow> {
    const row: DeployRow = { id: newId('deploy'), ...deploy };
    await this.insertInto('deploys').values(toColumns(DeployEntity, row)).execute();
    return row;
  }

  /** Finds a deploy of the same release in the same environment at the same time. */
  async findDeploy(
    same: Pick<DeployRow, 'serviceId' | 'release' | 'environment' | 'finishedAt'>,
  ): Promise<DeployRow | null> {
    const row = await this.selectFrom('deploys as d')
      .select(columns(DeployEntity, 'd'))
      .where('d.service_id', '=', same.serviceId)
      .where('d.release', '=', same.release)
      .where('d.environment', '=', same.environment)
      .where('d.finished_at', '=', same.finishedAt)
      .orderBy('d.id')
      .limit(1)
      .executeTakeFirst();
    return row ?? null;
  }

  /**
   * Counts the deploys recorded since then, whatever time they are of. Until the transaction ends others who count
   * wait.
   */
  async countDeploys(serviceId: Id<'service'>, since: Temporal.Instant): Promise<number> {
    await holdLock(this.session, `deploys ${serviceId}`);
    const { count } = await this.selectFrom('deploys')
      .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
      .where('service_id', '=', serviceId)
      .where('created_at', '>=', since)
      .executeTakeFirstOrThrow();
    return count;
  }

  /** The newest first. */
  async listDeploys(
    orgId: Id<'org'>,
    filter: {
      readonly serviceIds?: readonly Id<'service'>[];
      readonly release?: string;
      readonly from?: Temporal.Instant;
      readonly to?: Temporal.Instant;
    },
    limit: number,
  ): Promise<DeployRow[]> {
    const { serviceIds, release, from, to } = filter;
    let query = this.selectFrom('deploys as d').select(columns(DeployEntity, 'd')).where('d.org_id', '=', orgId);
    if (serviceIds !== undefined) query = query.where('d.service_id', '=', anyOf([...serviceIds]));
    if (release !== undefined) query = query.where('d.release', '=', release);
    if (from !== undefined) query = query.where('d.finished_at', '>=', from);
    if (to !== undefined) query = query.where('d.finished_at', '<', to);
    return await query.orderBy('d.finished_at', 'desc').orderBy('d.id', 'desc').limit(limit).execute();
  }

  /** Lists which of some releases were deployed before a time. */
  async listDeployed(
    serviceId: Id<'service'>,
    releases: readonly string[],
    before: Temporal.Instant,
  ): Promise<Set<string>> {
    if (releases.length === 0) return new Set();
    const rows = await this.selectFrom('deploys')
      .select('release')
      .distinct()
      .where('service_id', '=', serviceId)
      .where('release', '=', anyOf([...releases]))
      .where('finished_at', '<', before)
      .execute();
    return new Set(rows.map(({ release }) => release));
  }

  /** UTC days since then on which services were deployed, the oldest first. */
  async listDeployDays(
    orgId: Id<'org'>,
    serviceIds: readonly Id<'service'>[],
    from: Temporal.Instant,
  ): Promise<{ serviceId: Id<'service'>; date: string; count: number; release: string }[]> {
    return await this.selectFrom('deploys')
      .select(({ fn, cast }) => ['service_id as serviceId', cast<number>(fn.countAll(), 'integer').as('count')])
      .select(({ ref }) => [
        dayOf(ref('finished_at')).as('date'),
        sql<string>`(array_agg(${ref('release')} order by ${ref('finished_at')} desc, ${ref('id')} desc))[1]`.as(
          'release',
        ),
      ])
      .where('org_id', '=', orgId)
      .where('service_id', '=', anyOf([...serviceIds]))
      .where('finished_at', '>=', from)
      .groupBy(({ ref }) => ['service_id', dayOf(ref('finished_at'))])
      .orderBy('date')
      .orderBy('service_id')
      .execute();
  }

  #releases(orgId: Id<'org'>) {
    return this.selectFrom('releases as r').select(columns(ReleaseEntity, 'r')).where('r.org_id', '=', orgId);
  }
}

/** Formats the day in UTC, as `2027-01-31`. */
function dayOf(at: Expression<Temporal.Instant>): RawBuilder<string> {
  return sql<string>`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD')`;
}
