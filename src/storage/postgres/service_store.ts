import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import type { Capability } from '#core/capabilities/capability.ts';
import { notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { ServiceEntity } from '#storage/postgres/entities/services.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

export type ServiceRow = InferEntity<typeof ServiceEntity>;

/** A service with its enabled capabilities, sorted. */
export type ServiceWithCapabilities = ServiceRow & { readonly capabilities: readonly Capability[] };

export interface NewService {
  readonly name: string;
  readonly environment: string | null;
  readonly scmOwner: string | null;
  readonly scmRepo: string | null;
  readonly retentionDays: Record<Capability, number>;
}

const COLUMNS = `s.id, s.org_id as "orgId", s.project_id as "projectId", s.name, s.environment,
  s.scm_owner as "scmOwner", s.scm_repo as "scmRepo", s.retention_metrics as "retentionMetrics",
  s.retention_exceptions as "retentionExceptions", s.retention_oncall as "retentionOncall",
  s.created_at as "createdAt", s.updated_at as "updatedAt", s.deleted_at as "deletedAt",
  array(select capability from service_capabilities c where c.service_id = s.id and c.is_enabled order by 1) as capabilities`;

/** A place in the order of services by name. */
export interface ServicePlace {
  readonly name: string;
  readonly id: string;
}

/** Monitored services. A deleted one is gone for every method here, though a worker is still removing its data. */
export class ServiceStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async list(orgId: Id<'org'>, limit: number): Promise<ServiceWithCapabilities[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} from services s where s.org_id = $1 and s.deleted_at is null order by s.id limit $2`,
      [orgId, limit],
    );
  }

  /** By name; those behind `after`, at most `limit`. */
  async search(
    orgId: Id<'org'>,
    filter: { readonly text: string | undefined; readonly serviceIds: readonly string[] | undefined },
    page: { readonly after: ServicePlace | null; readonly limit: number },
  ): Promise<ServiceWithCapabilities[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} from services s where s.org_id = $1 and s.deleted_at is null
         and ($2::text is null or strpos(lower(concat_ws(' ', s.name, s.environment)), lower($2)) > 0)
         and ($3::text[] is null or s.id = any($3))
         and ($4::text is null or (lower(s.name), s.id) > (lower($4), $5))
       order by lower(s.name), s.id limit $6`,
      [
        orgId,
        filter.text ?? null,
        filter.serviceIds ?? null,
        page.after?.name ?? null,
        page.after?.id ?? null,
        page.limit,
      ],
    );
  }

  async find(orgId: Id<'org'>, serviceId: string): Promise<ServiceWithCapabilities | null> {
    return await this.#session.sql.row(
      `select ${COLUMNS} from services s where s.org_id = $1 and s.id = $2 and s.deleted_at is null`,
      [orgId, serviceId],
    );
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, serviceId: string, path = 'serviceId'): Promise<ServiceWithCapabilities> {
    const service = await this.find(orgId, serviceId);
    if (service === null) throw notFound(path, 'service');
    return service;
  }

  /** The entity, locked until the transaction ends, so that concurrent changes queue up instead of losing one. */
  async lock(orgId: Id<'org'>, serviceId: string, path = 'serviceId'): Promise<ServiceRow> {
    const service = await this.findLocked(orgId, serviceId);
    if (service === null) throw notFound(path, 'service');
    return service;
  }

  async findLocked(orgId: Id<'org'>, serviceId: string): Promise<ServiceRow | null> {
    return await this.#session.em.findOne(
      ServiceEntity,
      { orgId, id: serviceId as Id<'service'>, deletedAt: null },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
  }

  /** Deleted services whose data is not all removed yet. */
  async listDeleted(limit: number): Promise<Id<'service'>[]> {
    const rows = await this.#session.sql.rows<{ id: Id<'service'> }>(
      'select id from services where deleted_at is not null order by deleted_at limit $1',
      [limit],
    );
    return rows.map(({ id }) => id);
  }

  async isDeleted(serviceId: Id<'service'>): Promise<boolean> {
    const found = await this.#session.sql.row('select 1 from services where id = $1 and deleted_at is not null', [
      serviceId,
    ]);
    return found !== null;
  }

  /** Those of the ids that name no service, or one that is deleted. */
  async listGone(serviceIds: readonly Id<'service'>[]): Promise<Id<'service'>[]> {
    const rows = await this.#session.sql.rows<{ id: Id<'service'> }>(
      `select distinct asked.id from unnest($1::text[]) as asked (id)
       left join services s on s.id = asked.id and s.deleted_at is null where s.id is null`,
      [serviceIds],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Removes a deleted service, `batch` rows a statement: first what there may be much of, at last its own row and, by
   * cascade, all that hangs on it here. Stopped half-way, it is to be called again.
   */
  async removeDeleted(serviceId: Id<'service'>, batch: number): Promise<void> {
    if (!(await this.isDeleted(serviceId))) return;
    for (const table of ['incidents', 'exception_groups']) {
      const statement = `delete from ${table} where id in (select id from ${table} where service_id = $1 limit $2)`;
      while ((await this.#session.sql.run(statement, [serviceId, batch])) > 0);
    }
    await this.#session.sql.run('delete from services where id = $1 and deleted_at is not null', [serviceId]);
  }

  /** The services that are there, by how many days they keep the capability's data. */
  async listRetentionTiers(capability: Capability): Promise<{ days: number; serviceIds: Id<'service'>[] }[]> {
    return await this.#session.sql.rows(
      `select retention_${capability} as days, array_agg(id) as "serviceIds" from services
       where deleted_at is null group by 1 order by 1`,
    );
  }

  async save(service: ServiceRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.#session.em, service, now);
  }

  async insert(orgId: Id<'org'>, service: NewService, now: Temporal.Instant): Promise<ServiceWithCapabilities> {
    const { em } = this.#session;
    const { retentionDays, ...fields } = service;
    const row = em.create(ServiceEntity, {
      id: newId('service'),
      orgId,
      ...fields,
      retentionMetrics: retentionDays.metrics,
      retentionExceptions: retentionDays.exceptions,
      retentionOncall: retentionDays.oncall,
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    });
    await em.persist(row).flush();
    return { ...row, capabilities: [] };
  }
}
