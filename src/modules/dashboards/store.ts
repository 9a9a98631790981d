import { sql } from 'kysely';

import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { allBut, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { DashboardEntity } from '#storage/postgres/entities/services.ts';

export type DashboardRow = Row<typeof DashboardEntity>;
export type DashboardSummaryRow = Omit<DashboardRow, 'layout'>;

export type FoundDashboard = DashboardSummaryRow & {
  readonly serviceName: string | null;
  readonly widgetCount: number;
};

/** A place in the order of the list: by name. */
export interface DashboardPlace {
  readonly name: string;
  readonly id: string;
}

const SUMMARY = columns(DashboardEntity, 'd', allBut(DashboardEntity, 'layout'));

export class DashboardStore extends PostgresStore {
  /** Oldest first. */
  async list(orgId: Id<'org'>, limit: number): Promise<DashboardSummaryRow[]> {
    return await this.#visible(orgId).select(SUMMARY).orderBy('d.id').limit(limit).execute();
  }

  async count(orgId: Id<'org'>): Promise<number> {
    const { count } = await this.#visible(orgId)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Lists dashboards by name, at most `limit` after `after`. `total` counts all that have the text in their name or
   * service.
   */
  async search(
    orgId: Id<'org'>,
    text: string,
    { after, limit }: { readonly after: DashboardPlace | null; readonly limit: number },
  ): Promise<{ dashboards: FoundDashboard[]; total: number }> {
    const matching = this.#visible(orgId)
      .leftJoin('services as named', 'named.id', 'd.service_id')
      .$if(text !== '', (query) =>
        query.where(
          ({ ref }) =>
            sql<boolean>`strpos(lower(concat_ws(' ', ${ref('d.name')}, ${ref('named.name')})), lower(${text})) > 0`,
        ),
      );
    const [dashboards, counted] = await Promise.all([
      matching
        .select(SUMMARY)
        .select(({ ref }) => [
          'named.name as serviceName',
          sql<number>`json_array_length(${ref('d.layout')})`.as('widgetCount'),
        ])
        .$if(after !== null, (query) =>
          query.where(
            ({ ref }) =>
              sql<boolean>`(lower(${ref('d.name')}), ${ref('d.id')}) > (lower(${after?.name}), ${after?.id})`,
          ),
        )
        .orderBy(({ fn }) => fn('lower', ['d.name']))
        .orderBy('d.id')
        .limit(limit)
        .execute(),
      matching.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirst(),
    ]);
    return { dashboards, total: counted?.total ?? 0 };
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, dashboardId: string): Promise<DashboardRow> {
    return found(await this.#one(orgId, dashboardId).executeTakeFirst());
  }

  /** Returns the dashboard as `get` does, locked until the transaction ends. */
  async lock(orgId: Id<'org'>, dashboardId: string): Promise<DashboardRow> {
    return found(await this.#one(orgId, dashboardId).forUpdate().executeTakeFirst());
  }

  /** Columns that are not given have the default of the table. */
  async insert(
    orgId: Id<'org'>,
    dashboard: Pick<DashboardRow, 'name' | 'serviceId' | 'layout'>,
    now: Temporal.Instant,
  ): Promise<DashboardRow> {
    const row = { id: newId('dashboard'), orgId, ...dashboard, createdAt: now, updatedAt: now };
    return await this.insertInto('dashboards')
      .values(toColumns(DashboardEntity, row))
      .returning(columns(DashboardEntity, 'dashboards'))
      .executeTakeFirstOrThrow();
  }

  /** Writes the whole row. */
  async save(dashboard: DashboardRow): Promise<void> {
    await this.updateTable('dashboards')
      .set(toColumns(DashboardEntity, dashboard))
      .where('org_id', '=', dashboard.orgId)
      .where('id', '=', dashboard.id)
      .execute();
  }

  async remove(orgId: Id<'org'>, dashboardId: Id<'dashboard'>): Promise<void> {
    await this.deleteFrom('dashboards').where('org_id', '=', orgId).where('id', '=', dashboardId).execute();
  }

  #one(orgId: Id<'org'>, dashboardId: string) {
    return this.#visible(orgId)
      .select(columns(DashboardEntity, 'd'))
      .where('d.id', '=', asId('dashboard', dashboardId));
  }

  /** A dashboard goes with its service, from the moment the service is deleted. */
  #visible(orgId: Id<'org'>) {
    return this.selectFrom('dashboards as d')
      .where('d.org_id', '=', orgId)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('services as s')
              .select('s.id')
              .whereRef('s.id', '=', 'd.service_id')
              .where('s.deleted_at', 'is not', null),
          ),
        ),
      );
  }
}

function found(dashboard: DashboardRow | undefined): DashboardRow {
  if (dashboard === undefined) throw notFound('dashboardId', 'dashboard');
  return dashboard;
}
