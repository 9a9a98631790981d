import { notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A widget of a dashboard, kept as it was given. */
export type Widget = Readonly<Record<string, unknown>>;

export interface DashboardSummaryRow {
  readonly id: Id<'dashboard'>;
  readonly orgId: Id<'org'>;
  /** null: for the whole organization. */
  readonly serviceId: Id<'service'> | null;
  readonly name: string;
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

export interface DashboardRow extends DashboardSummaryRow {
  readonly layout: readonly Widget[];
}

const COLUMNS = `d.id, d.org_id as "orgId", d.service_id as "serviceId", d.name,
  d.created_at as "createdAt", d.updated_at as "updatedAt"`;

/** A dashboard goes with its service, from the moment the service is deleted. */
const VISIBLE = `not exists (select from services s where s.id = d.service_id and s.deleted_at is not null)`;

/** Dashboards and their layouts. */
export class DashboardStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Oldest first. */
  async list(orgId: Id<'org'>, limit: number): Promise<DashboardSummaryRow[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} from dashboards d where d.org_id = $1 and ${VISIBLE} order by d.id limit $2`,
      [orgId, limit],
    );
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, dashboardId: string): Promise<DashboardRow> {
    return await this.#one(orgId, dashboardId, '');
  }

  /** As `get`, locked until the transaction ends. */
  async lock(orgId: Id<'org'>, dashboardId: string): Promise<DashboardRow> {
    return await this.#one(orgId, dashboardId, 'for update');
  }

  async insert(
    orgId: Id<'org'>,
    dashboard: Pick<DashboardRow, 'serviceId' | 'name' | 'layout'>,
    now: Temporal.Instant,
  ): Promise<DashboardRow> {
    const row = { id: newId('dashboard'), orgId, ...dashboard, createdAt: now, updatedAt: now };
    await this.#session.sql.run(
      `insert into dashboards (id, org_id, service_id, name, layout, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $6)`,
      [row.id, orgId, row.serviceId, row.name, JSON.stringify(row.layout), now.toString()],
    );
    return row;
  }

  /** Writes name, layout and `updatedAt`. */
  async save(dashboard: DashboardRow): Promise<void> {
    const { orgId, id, name, layout, updatedAt } = dashboard;
    await this.#session.sql.run(
      'update dashboards set name = $3, layout = $4, updated_at = $5 where org_id = $1 and id = $2',
      [orgId, id, name, JSON.stringify(layout), updatedAt.toString()],
    );
  }

  async remove(orgId: Id<'org'>, dashboardId: Id<'dashboard'>): Promise<void> {
    await this.#session.sql.run('delete from dashboards where org_id = $1 and id = $2', [orgId, dashboardId]);
  }

  async #one(orgId: Id<'org'>, dashboardId: string, lock: '' | 'for update'): Promise<DashboardRow> {
    const row = await this.#session.sql.row<DashboardRow>(
      `select ${COLUMNS}, d.layout from dashboards d where d.org_id = $1 and d.id = $2 and ${VISIBLE} ${lock}`,
      [orgId, dashboardId],
    );
    if (row === null) throw notFound('dashboardId', 'dashboard');
    return row;
  }
}
