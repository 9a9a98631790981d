import { sql } from 'kysely';

import { AppError, notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import {
  arePublished,
  PUBLICATIONS_SHOWN_MAX,
  STATUS_PAGES_MAX,
  UPDATES_MAX,
  UPDATES_SHOWN_MAX,
} from '#modules/status_pages/decide/publication.ts';
import {
  StatusComponentEntity,
  StatusPageEntity,
  StatusPublicationEntity,
  StatusUpdateEntity,
} from '#storage/postgres/entities/status_pages.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';

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

/** A publication with what its incident is by now; nulls once the incident is gone. */
export type PublicationRow = Row<typeof StatusPublicationEntity> & {
  readonly incidentStatus: IncidentStatus | null;
  readonly incidentResolvedAt: Temporal.Instant | null;
};

export type UpdateRow = Row<typeof StatusUpdateEntity>;

export type NewPublication = Pick<
  PublicationRow,
  'orgId' | 'pageId' | 'incidentId' | 'title' | 'impact' | 'serviceIds' | 'beganAt'
>;

/** Incidents as people published them, and the updates on each. */
export class PublicationStore extends PostgresStore {
  /** Lists what a page shows since a time, newest first: all that is open, and the newest that ended since then. */
  async listOfPage(pageId: Id<'statuspage'>, since: Temporal.Instant): Promise<PublicationRow[]> {
    const rows = await this.#publications()
      .where('u.page_id', '=', pageId)
      .where((eb) => eb.or([eb('u.ended_at', 'is', null), eb('u.ended_at', '>=', since)]))
      .orderBy((eb) => eb('u.ended_at', 'is', null), 'desc')
      .orderBy('u.began_at', 'desc')
      .limit(PUBLICATIONS_SHOWN_MAX)
      .execute();
    return rows.toSorted((a, b) => b.beganAt.epochMilliseconds - a.beganAt.epochMilliseconds).map(readable);
  }

  async listOfIncident(orgId: Id<'org'>, incidentId: Id<'incident'>): Promise<PublicationRow[]> {
    const rows = await this.#publications()
      .where('u.org_id', '=', orgId)
      .where('u.incident_id', '=', incidentId)
      .orderBy('u.began_at')
      .limit(STATUS_PAGES_MAX)
      .execute();
    return rows.map(readable);
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, publicationId: string): Promise<PublicationRow> {
    const publication = await this.#publications()
      .where('u.org_id', '=', orgId)
      .where('u.id', '=', asId('publication', publicationId))
      .forUpdate('u')
      .executeTakeFirstOrThrow(() => notFound('publicationId', 'publication'));
    return readable(publication);
  }

  async insert(publication: NewPublication, now: Temporal.Instant): Promise<Id<'publication'>> {
    const row = { id: newId('publication'), ...publication, endedAt: null, changedAt: now };
    await this.insertInto('status_publications').values(toColumns(StatusPublicationEntity, row)).execute();
    return row.id;
  }

  async save(
    id: Id<'publication'>,
    changed: Partial<Pick<PublicationRow, 'title' | 'impact' | 'serviceIds' | 'endedAt'>>,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('status_publications')
      .set(toColumns(StatusPublicationEntity, { ...changed, changedAt: now }))
      .where('id', '=', id)
      .execute();
  }

  async delete(id: Id<'publication'>): Promise<void> {
    await this.deleteFrom('status_publications').where('id', '=', id).execute();
  }

  async addUpdate(
    update: Pick<UpdateRow, 'orgId' | 'publicationId' | 'stage' | 'body'>,
    now: Temporal.Instant,
  ): Promise<Id<'statusupdate'>> {
    const row = { id: newId('statusupdate'), ...update, at: now };
    await this.insertInto('status_updates').values(toColumns(StatusUpdateEntity, row)).execute();
    return row.id;
  }

  async findUpdate(
    updateId: string,
  ): Promise<(UpdateRow & Pick<PublicationRow, 'pageId' | 'title' | 'serviceIds'>) | null> {
    const update = await this.selectFrom('status_updates as t')
      .innerJoin('status_publications as u', 'u.id', 't.publication_id')
      .select(columns(StatusUpdateEntity, 't'))
      .select(['u.page_id as pageId', 'u.title', 'u.service_ids as serviceIds'])
      .where('t.id', '=', asId('statusupdate', updateId))
      .executeTakeFirst();
    return update === undefined ? null : readable(update);
  }

  /** Lists publications that are open though their incident is resolved or gone, and locks them. */
  async lockOver(limit: number): Promise<PublicationRow[]> {
    return await this.#publications()
      .where('u.ended_at', 'is', null)
      .where((eb) => eb.or([eb('i.id', 'is', null), eb('i.status', '=', 'resolved')]))
      .orderBy('u.id')
      .limit(limit)
      .forUpdate('u')
      .skipLocked()
      .execute();
  }

  /** Lists the updates of these publications, newest first. */
  async listUpdates(ids: readonly Id<'publication'>[]): Promise<UpdateRow[]> {
    if (ids.length === 0) return [];
    return await this.selectFrom('status_updates as t')
      .select(columns(StatusUpdateEntity, 't'))
      .where('t.publication_id', '=', anyOf(ids))
      .orderBy('t.at', 'desc')
      .orderBy('t.id', 'desc')
      .limit(Math.min(ids.length * UPDATES_MAX, UPDATES_SHOWN_MAX))
      .execute();
  }

  #publications() {
    return this.selectFrom('status_publications as u')
      .leftJoin('incidents as i', 'i.id', 'u.incident_id')
      .select(columns(StatusPublicationEntity, 'u'))
      .select(['i.status as incidentStatus', 'i.resolved_at as incidentResolvedAt']);
  }
}

/** Returns a publication whose services cannot be read as one of no service. */
function readable<Publication extends Pick<PublicationRow, 'serviceIds'>>(publication: Publication): Publication {
  return arePublished(publication.serviceIds) ? publication : { ...publication, serviceIds: [] };
}
