import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  arePublished,
  PUBLICATIONS_SHOWN_MAX,
  STATUS_PAGES_MAX,
  UPDATES_MAX,
  UPDATES_SHOWN_MAX,
} from '#modules/status_pages/decide/publication.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { StatusPublicationEntity, StatusUpdateEntity } from '#storage/postgres/entities/status_pages.ts';

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
  /** Lists what a page shows since a time, newest first: what is open, and what ended since then. */
  async listOfPage(pageId: Id<'statuspage'>, since: Temporal.Instant): Promise<PublicationRow[]> {
    const rows = await this.#publications()
      .where('u.page_id', '=', pageId)
      .where((eb) => eb.or([eb('u.ended_at', 'is', null), eb('u.ended_at', '>=', since)]))
      .orderBy('u.began_at', 'desc')
      .limit(PUBLICATIONS_SHOWN_MAX)
      .execute();
    return rows.map(readable);
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
