import { sql } from 'kysely';

import { AppError, notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { STATUS_PAGES_MAX } from '#modules/status_pages/decide/publication.ts';
import { columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { StatusComponentEntity, StatusPageEntity } from '#storage/postgres/entities/status_pages.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

export type StatusPageRow = Row<typeof StatusPageEntity>;

type ComponentRow = Row<typeof StatusComponentEntity>;

export type NewComponent = Pick<ComponentRow, 'serviceId' | 'groupName' | 'name'>;

/** A page by its address, and a text that changes with everything that the page shows. */
interface PageVersion {
  readonly page: StatusPageRow;
  readonly version: string;
}

export class StatusPageStore extends PostgresStore {
  /** The pages of an organization, by title. */
  async list(orgId: Id<'org'>): Promise<StatusPageRow[]> {
    return await this.#pages().where('p.org_id', '=', orgId).orderBy('p.title').limit(STATUS_PAGES_MAX).execute();
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, pageId: string): Promise<StatusPageRow> {
    return await this.#named(orgId, pageId).executeTakeFirstOrThrow(() => notFound('statusPageId', 'status page'));
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, pageId: string): Promise<StatusPageRow> {
    return await this.#named(orgId, pageId)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('statusPageId', 'status page'));
  }

  /** Finds the page at an address with its version, in one statement. */
  async findVersion(slug: string): Promise<PageVersion | null> {
    const page = await this.#pages()
      .select(({ selectFrom }) => [
        selectFrom('status_components as c')
          .innerJoin('services as s', 's.id', 'c.service_id')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .whereRef('c.page_id', '=', 'p.id')
          .where('s.deleted_at', 'is', null)
          .as('components'),
        selectFrom('status_publications as u')
          .leftJoin('incidents as i', 'i.id', 'u.incident_id')
          .select(({ fn, eb }) => {
            const open = eb.and([eb('u.ended_at', 'is', null), eb('i.status', '<>', 'resolved')]);
            // The sum, as a change that began earlier, or on a slower clock, may end later than a newer one.
            const [count, changed] = [fn.countAll(), sql`sum(extract(epoch from ${eb.ref('u.changed_at')}))`];
            return sql<string>`concat(${count}, ' ', ${changed}, ' ', ${fn.countAll().filterWhere(open)})`.as('text');
          })
          .whereRef('u.page_id', '=', 'p.id')
          .as('publications'),
      ])
      .where('p.slug', '=', slug)
      .executeTakeFirst();
    if (page === undefined) return null;
    const { components, publications, ...row } = page;
    return { page: row, version: `${row.id} ${row.version} ${components} ${publications}` };
  }

  /** Lists the services of a page in its order; deleted ones are left out. */
  async listComponents(pageId: Id<'statuspage'>): Promise<ComponentRow[]> {
    return await this.#components().where('c.page_id', '=', pageId).execute();
  }

  async listAllComponents(orgId: Id<'org'>): Promise<ComponentRow[]> {
    return await this.#components().where('c.org_id', '=', orgId).execute();
  }

  /** Throws `conflict` when another page has the address. */
  async insert(
    page: Pick<StatusPageRow, 'orgId' | 'slug' | 'title' | 'about' | 'isPublic'>,
    now: Temporal.Instant,
  ): Promise<StatusPageRow> {
    const row = { id: newId('statuspage'), ...page, version: 1, createdAt: now, updatedAt: now };
    await withFreeSlug(() => this.insertInto('status_pages').values(toColumns(StatusPageEntity, row)).execute());
    return row;
  }

  /** Throws `conflict` when another page has the address. */
  async save(
    id: Id<'statuspage'>,
    changed: Partial<Pick<StatusPageRow, 'slug' | 'title' | 'about' | 'isPublic'>>,
    now: Temporal.Instant,
  ): Promise<void> {
    await withFreeSlug(() =>
      this.updateTable('status_pages')
        .set({ ...toColumns(StatusPageEntity, { ...changed, updatedAt: now }), version: sql`version + 1` })
        .where('id', '=', id)
        .execute(),
    );
  }

  async replaceComponents(
    { id: pageId, orgId }: Pick<StatusPageRow, 'id' | 'orgId'>,
    components: readonly NewComponent[],
  ): Promise<void> {
    await this.deleteFrom('status_components').where('page_id', '=', pageId).execute();
    if (components.length === 0) return;
    const rows = components.map((component, position) =>
      toColumns(StatusComponentEntity, { pageId, orgId, position, ...component }),
    );
    await this.insertInto('status_components').values(rows).execute();
  }

  async delete(id: Id<'statuspage'>): Promise<void> {
    await this.deleteFrom('status_pages').where('id', '=', id).execute();
  }

  #pages() {
    return this.selectFrom('status_pages as p').select(columns(StatusPageEntity, 'p'));
  }

  #named(orgId: Id<'org'>, pageId: string) {
    return this.#pages().where('p.org_id', '=', orgId).where('p.id', '=', asId('statuspage', pageId));
  }

  #components() {
    return this.selectFrom('status_components as c')
      .innerJoin('services as s', 's.id', 'c.service_id')
      .select(columns(StatusComponentEntity, 'c'))
      .where('s.deleted_at', 'is', null)
      .orderBy('c.position');
  }
}

async function withFreeSlug<Result>(write: () => Promise<Result>): Promise<Result> {
  try {
    return await write();
  } catch (error) {
    if (!isUniqueViolation(error, 'status_pages_slug_key')) throw error;
    throw new AppError('conflict', 'another page of this installation has this address; choose another');
  }
}
