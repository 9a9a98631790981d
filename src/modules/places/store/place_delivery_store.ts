import { sql } from 'kysely';

import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { DELIVERY_HOURS, type DeliveryStatus } from '#modules/places/decide/delivery.ts';
import { columns, insertSlices, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { PlaceDeliveryEntity } from '#storage/postgres/entities/places.ts';

export type PlaceDeliveryRow = Row<typeof PlaceDeliveryEntity>;

export type NewDelivery = Pick<PlaceDeliveryRow, 'orgId' | 'placeId' | 'incidentId' | 'noteId' | 'event' | 'source'>;

/** An entry of a timeline, with what decides which places are told. */
export interface AnnouncedEntry {
  readonly id: number;
  readonly at: Temporal.Instant;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly incidentId: Id<'incident'>;
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly teamId: Id<'team'> | null;
  readonly severity: string;
  readonly isShadow: boolean;
  readonly suppressedUntil: Temporal.Instant | null;
}

/** Deliveries to places. Rows are the truth: they wait until they are sent, superseded or dead. */
export class PlaceDeliveryStore extends PostgresStore {
  /** Inserts deliveries that are due at once; what a place has been told of already is left out. */
  async insert(deliveries: readonly NewDelivery[], now: Temporal.Instant): Promise<number> {
    const expiresAt = now.add({ hours: DELIVERY_HOURS });
    const rows = deliveries.map((delivery) => ({
      ...toColumns(PlaceDeliveryEntity, { id: newId('delivery'), ...delivery, status: 'waiting' }),
      due_at: now,
      expires_at: expiresAt,
      created_at: now,
    }));
    let count = 0;
    for (const slice of insertSlices(rows)) {
      const inserted = await this.insertInto('place_deliveries')
        .values(slice)
        .onConflict((conflict) => conflict.columns(['place_id', 'source']).doNothing())
        .execute();
      count += rowsChanged(inserted);
    }
    return count;
  }

  /** The oldest delivery of a place that is due. */
  async findDue(placeId: Id<'place'>, now: Temporal.Instant): Promise<PlaceDeliveryRow | null> {
    const due = await this.#deliveries()
      .where('d.place_id', '=', placeId)
      .where('d.status', '=', 'waiting')
      .where('d.due_at', '<=', now)
      .orderBy('d.number')
      .limit(1)
      .executeTakeFirst();
    return due ?? null;
  }

  async saveAttempt(
    { id, tries }: Pick<PlaceDeliveryRow, 'id' | 'tries'>,
    attempt: Pick<PlaceDeliveryRow, 'status' | 'dueAt' | 'endedAt' | 'body' | 'answerStatus' | 'answer' | 'failure'>,
  ): Promise<void> {
    await this.updateTable('place_deliveries')
      .set(toColumns(PlaceDeliveryEntity, { ...attempt, tries: tries + 1 }))
      .where('id', '=', id)
      .execute();
  }

  /** The last number of a waiting delivery of this incident; 0 for none. What is read after it is at least as new. */
  async lastWaiting(placeId: Id<'place'>, incidentId: Id<'incident'>): Promise<number> {
    const { last } = await this.selectFrom('place_deliveries')
      .select(({ fn }) => fn.max('number').as('last'))
      .where('place_id', '=', placeId)
      .where('incident_id', '=', incidentId)
      .where('status', '=', 'waiting')
      .executeTakeFirstOrThrow();
    return last ?? 0;
  }

  /** Ends the waiting deliveries of an incident up to this number, but for notes: a later state was sent. */
  async supersede(
    { placeId, incidentId, upTo }: { placeId: Id<'place'>; incidentId: Id<'incident'>; upTo: number },
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('place_deliveries')
      .set({ status: 'superseded', ended_at: now })
      .where('place_id', '=', placeId)
      .where('incident_id', '=', incidentId)
      .where('status', '=', 'waiting')
      .where('note_id', 'is', null)
      .where('number', '<=', upTo)
      .execute();
  }

  /** Ends all waiting deliveries of a place. */
  async end(placeId: Id<'place'>, failure: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('place_deliveries')
      .set({ status: 'dead', ended_at: now, failure })
      .where('place_id', '=', placeId)
      .where('status', '=', 'waiting')
      .execute();
  }

  /** The deliveries of a place, newest first; before this number for the next page. */
  async list(
    placeId: Id<'place'>,
    { before, status, limit }: { before: number | null; status: DeliveryStatus | null; limit: number },
  ): Promise<PlaceDeliveryRow[]> {
    let listed = this.#deliveries().where('d.place_id', '=', placeId);
    if (before !== null) listed = listed.where('d.number', '<', before);
    if (status !== null) listed = listed.where('d.status', '=', status);
    return await listed.orderBy('d.number', 'desc').limit(limit).execute();
  }

  async countWaiting(orgId: Id<'org'>): Promise<Map<Id<'place'>, number>> {
    const counted = await this.selectFrom('place_deliveries')
      .select(({ fn }) => ['place_id as placeId', fn.countAll<number>().as('count')])
      .where('org_id', '=', orgId)
      .where('status', '=', 'waiting')
      .groupBy('place_id')
      .execute();
    return new Map(counted.map(({ placeId, count }) => [placeId, count]));
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, deliveryId: string): Promise<PlaceDeliveryRow> {
    return await this.#deliveries()
      .where('d.org_id', '=', orgId)
      .where('d.id', '=', asId('delivery', deliveryId))
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('deliveryId', 'delivery'));
  }

  /** Sends a delivery again, for as long as a new one. */
  async redeliver(id: Id<'delivery'>, now: Temporal.Instant): Promise<void> {
    const expiresAt = now.add({ hours: DELIVERY_HOURS });
    await this.updateTable('place_deliveries')
      .set({ status: 'waiting', tries: 0, due_at: now, expires_at: expiresAt, ended_at: null, failure: null })
      .where('id', '=', id)
      .execute();
  }

  /** Removes deliveries that ended, and were made before, but for those of open incidents: who was told hears the rest. */
  async removeEnded(before: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('place_deliveries')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('place_deliveries')
          .select('id')
          .where('created_at', '<', before)
          .where('status', '<>', 'waiting')
          .where(({ not, exists, selectFrom: from }) =>
            not(
              exists(
                from('incidents as i')
                  .select('i.id')
                  .whereRef('i.id', '=', 'place_deliveries.incident_id')
                  .where('i.status', '<>', 'resolved'),
              ),
            ),
          )
          .limit(limit),
      )
      .execute();
    return rowsChanged(removed);
  }

  /** Returns which of these incidents each of these places was told of, as `place incident`. */
  async listAnnounced(
    placeIds: readonly Id<'place'>[],
    incidentIds: readonly Id<'incident'>[],
  ): Promise<ReadonlySet<string>> {
    if (placeIds.length === 0 || incidentIds.length === 0) return new Set();
    const announced = await this.selectFrom('place_deliveries')
      .select(['place_id as placeId', 'incident_id as incidentId'])
      .distinct()
      .where('incident_id', 'in', incidentIds)
      .where('place_id', 'in', placeIds)
      .execute();
    return new Set(announced.map(({ placeId, incidentId }) => `${placeId} ${incidentId}`));
  }

  /** Locks the cursor of the timelines and returns it; null while another process reads on. */
  async lockCursor(): Promise<number | null> {
    const { db } = this;
    const cursor = await db.selectFrom('place_cursor').select('timeline_id as at').forUpdate().skipLocked().execute();
    if (cursor[0] !== undefined) return cursor[0].at;
    const made = await db
      .insertInto('place_cursor')
      .values({ timeline_id: 0 })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return rowsChanged(made) === 0 ? null : 0;
  }

  async saveCursor(timelineId: number): Promise<void> {
    await this.updateTable('place_cursor').set({ timeline_id: timelineId }).execute();
  }

  /** Lists entries of all timelines behind the cursor, in their order. */
  async listEntries(after: number, limit: number): Promise<AnnouncedEntry[]> {
    return await this.#entries().where('t.id', '>', after).limit(limit).execute();
  }

  /** Lists the entries of an incident that are behind the stored cursor, in their order. */
  async listUnread(incidentId: Id<'incident'>): Promise<AnnouncedEntry[]> {
    return await this.#entries()
      .where('t.incident_id', '=', incidentId)
      .where('t.id', '>', ({ fn, selectFrom, lit }) =>
        fn.coalesce(selectFrom('place_cursor').select('timeline_id'), lit(0)),
      )
      .execute();
  }

  /** Whether any place of the installation is on. */
  async hasPlaces(): Promise<boolean> {
    const { exists } = await this.db
      .selectNoFrom(({ exists: any, selectFrom }) =>
        any(
          selectFrom('places')
            .select(sql`1`.as('one'))
            .where('is_on', '=', true),
        ).as('exists'),
      )
      .executeTakeFirstOrThrow();
    return Boolean(exists);
  }

  #entries() {
    return this.selectFrom('incident_timeline as t')
      .innerJoin('incidents as i', 'i.id', 't.incident_id')
      .select(['t.id', 't.at', 't.event', 't.data', 't.incident_id as incidentId', 'i.org_id as orgId'])
      .select(['i.service_id as serviceId', 'i.team_id as teamId', 'i.severity', 'i.is_shadow as isShadow'])
      .select('i.suppressed_until as suppressedUntil')
      .orderBy('t.id');
  }

  #deliveries() {
    return this.selectFrom('place_deliveries as d').select(columns(PlaceDeliveryEntity, 'd'));
  }
}
