import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, type Row, rowsChanged, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { DeployEntity, ReleaseEntity } from '#storage/postgres/entities/releases.ts';

export type ReleaseRow = Row<typeof ReleaseEntity>;
export type DeployRow = Row<typeof DeployEntity>;

/** What a build says of a release; what it leaves out stays. */
export type ReleaseFields = Partial<
  Pick<ReleaseRow, 'url' | 'ref' | 'commits' | 'commitCount' | 'releasedAt' | 'archivedAt'>
>;

const NOTHING_SAID = { url: null, ref: null, commits: [], commitCount: 0, releasedAt: null, archivedAt: null };

/** Releases of services, and when they were deployed. */
export class ReleaseStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Locked until the transaction ends; null when it is not known. */
  async lock(serviceId: Id<'service'>, version: string): Promise<ReleaseRow | null> {
    const row = await this.#session.db
      .selectFrom('releases as r')
      .select(columns(ReleaseEntity, 'r'))
      .where('r.service_id', '=', serviceId)
      .where('r.version', '=', version)
      .forUpdate()
      .executeTakeFirst();
    return row ?? null;
  }

  /** The same release of each service that has it, by service. */
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

  /** How many releases a service has, so that a program cannot make any number of them. */
  async count(serviceId: Id<'service'>): Promise<number> {
    const { count } = await this.#session.db
      .selectFrom('releases')
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
    const inserted = await this.#session.db
      .insertInto('releases')
      .values(toColumns(ReleaseEntity, row))
      .onConflict((conflict) => conflict.columns(['service_id', 'version']).doNothing())
      .execute();
    return rowsChanged(inserted) > 0;
  }

  async update(serviceId: Id<'service'>, version: string, fields: ReleaseFields, now: Temporal.Instant): Promise<void> {
    await this.#session.db
      .updateTable('releases')
      .set({ ...toColumns(ReleaseEntity, fields), updated_at: now })
      .where('service_id', '=', serviceId)
      .where('version', '=', version)
      .execute();
  }

  async remove(serviceId: Id<'service'>, version: string): Promise<void> {
    await this.#session.db
      .deleteFrom('releases')
      .where('service_id', '=', serviceId)
      .where('version', '=', version)
      .execute();
  }

  /** By release: how many groups began in it, and how many were resolved when it was their last. */
  async countGroups(serviceId: Id<'service'>): Promise<{ release: string; begun: number; resolved: number }[]> {
    const { db } = this.#session;
    const [begun, resolved] = await Promise.all([
      db
        .selectFrom('exception_groups')
        .select(({ fn, cast }) => ['first_release as release', cast<number>(fn.countAll(), 'integer').as('count')])
        .where('service_id', '=', serviceId)
        .where('first_release', 'is not', null)
        .groupBy('first_release')
        .execute(),
      db
        .selectFrom('exception_groups')
        .select(({ fn, cast }) => [
          'resolved_in_release as release',
          cast<number>(fn.countAll(), 'integer').as('count'),
        ])
        .where('service_id', '=', serviceId)
        .where('status', '=', 'resolved')
        .where('resolved_in_release', 'is not', null)
        .groupBy('resolved_in_release')
        .execute(),
    ]);
    const counts = new Map<string, { release: string; begun: number; resolved: number }>();
    const of = (release: string) => {
      const known = counts.get(release) ?? { release, begun: 0, resolved: 0 };
      counts.set(release, known);
      return known;
    };
    for (const { release, count } of begun) if (release !== null) of(release).begun = count;
    for (const { release, count } of resolved) if (release !== null) of(release).resolved = count;
    return [...counts.values()];
  }

  async titlesOfGroups(orgId: Id<'org'>, groupIds: readonly Id<'group'>[]): Promise<Map<Id<'group'>, string>> {
    const rows = await this.#session.db
      .selectFrom('exception_groups')
      .select(['id', 'title'])
      .where('org_id', '=', orgId)
      .where('id', '=', anyOf(groupIds))
      .execute();
    return new Map(rows.map(({ id, title }) => [id, title]));
  }

  async addDeploy(deploy: Omit<DeployRow, 'id'>): Promise<DeployRow> {
    const row: DeployRow = { id: newId('deploy'), ...deploy };
    await this.#session.db.insertInto('deploys').values(toColumns(DeployEntity, row)).execute();
    return row;
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
    let query = this.#session.db
      .selectFrom('deploys as d')
      .select(columns(DeployEntity, 'd'))
      .where('d.org_id', '=', orgId);
    if (serviceIds !== undefined) query = query.where('d.service_id', '=', anyOf([...serviceIds]));
    if (release !== undefined) query = query.where('d.release', '=', release);
    if (from !== undefined) query = query.where('d.finished_at', '>=', from);
    if (to !== undefined) query = query.where('d.finished_at', '<', to);
    return await query.orderBy('d.finished_at', 'desc').orderBy('d.id', 'desc').limit(limit).execute();
  }

  /** Which of some releases were deployed before a time. */
  async listDeployed(
    serviceId: Id<'service'>,
    releases: readonly string[],
    before: Temporal.Instant,
  ): Promise<Set<string>> {
    if (releases.length === 0) return new Set();
    const rows = await this.#session.db
      .selectFrom('deploys')
      .select('release')
      .distinct()
      .where('service_id', '=', serviceId)
      .where('release', '=', anyOf([...releases]))
      .where('finished_at', '<', before)
      .execute();
    return new Set(rows.map(({ release }) => release));
  }

  #releases(orgId: Id<'org'>) {
    return this.#session.db
      .selectFrom('releases as r')
      .select(columns(ReleaseEntity, 'r'))
      .where('r.org_id', '=', orgId);
  }
}
