import { sql } from 'kysely';

import type { Repetition } from '#modules/alerts/decide/alert_event.ts';
import { SOURCES_MAX, type StoredSourceSettings } from '#modules/alerts/decide/source_settings.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  columns,
  json,
  PostgresStore,
  prepared,
  type Row,
  rowsOf,
  toColumns,
  type Values,
} from '#storage/postgres/store.ts';
import { AlertBodyEntity, AlertSourceEntity } from '#storage/postgres/entities/alerts.ts';

export type AlertSourceRow = Row<typeof AlertSourceEntity>;

export interface SourceName {
  readonly protocol: string;
  readonly name: string;
}

/** Change of a source since it was last saved. */
export interface SourceChange {
  readonly id: Id<'alertsource'>;
  readonly accepted: number;
  readonly repetition: Repetition;
}

/** A name that a service was asked for, whether the service is there, and its source, if it has one of that name. */
export interface NamedSource extends SourceName {
  readonly serviceId: Id<'service'>;
  readonly isGone: boolean;
  readonly source: AlertSourceRow | null;
}

const FIND_ALL = prepared(
  (
    db,
    values: Values<{
      readonly serviceIds: readonly Id<'service'>[];
      readonly protocols: readonly string[];
      readonly names: readonly string[];
    }>,
  ) =>
    db
      .selectFrom(
        rowsOf('w', {
          service_id: ['text', values.serviceIds],
          protocol: ['text', values.protocols],
          name: ['text', values.names],
        }),
      )
      .leftJoin('services as v', (join) => join.onRef('v.id', '=', 'w.service_id').on('v.deleted_at', 'is', null))
      .leftJoin('alert_sources as s', (join) =>
        join
          .onRef('s.service_id', '=', 'w.service_id')
          .onRef('s.protocol', '=', 'w.protocol')
          .onRef('s.name', '=', 'w.name'),
      )
      .select(['v.id as presentId', 'w.service_id as askedId', 'w.protocol as askedProtocol', 'w.name as askedName'])
      .select(columns(AlertSourceEntity, 's')),
);

const NOTE_ALERTS = prepared(
  (
    db,
    values: Values<{
      readonly ids: readonly Id<'alertsource'>[];
      readonly accepted: readonly number[];
      readonly longest: readonly (number | null)[];
      readonly shortest: readonly (number | null)[];
      readonly now: Temporal.Instant;
    }>,
  ) =>
    db
      .updateTable('alert_sources as s')
      .from(
        rowsOf('c', {
          id: ['text', values.ids],
          accepted: ['bigint', values.accepted],
          longest: ['integer', values.longest],
          shortest: ['integer', values.shortest],
        }),
      )
      .set(({ eb, ref }) => ({
        accepted: eb('s.accepted', '+', ref('c.accepted')),
        longest_gap_seconds: ref('c.longest'),
        shortest_gap_seconds: ref('c.shortest'),
        last_alert_at: values.now,
      }))
      .whereRef('s.id', '=', 'c.id')
      .returning('s.id'),
);

/** The bodies that a source sent last, for people who look what is wrong. */
export const BODIES_KEPT = 5;

function isSource(stored: { readonly id: Id<'alertsource'> | null }): stored is AlertSourceRow {
  return stored.id !== null;
}

export class AlertSourceStore extends PostgresStore {
  async list(serviceId: Id<'service'>): Promise<AlertSourceRow[]> {
    return await this.selectFrom('alert_sources as s')
      .select(columns(AlertSourceEntity, 's'))
      .where('s.service_id', '=', serviceId)
      .orderBy('s.protocol')
      .orderBy('s.name')
      .limit(SOURCES_MAX)
      .execute();
  }

  async find(serviceId: Id<'service'>, { protocol, name }: SourceName): Promise<AlertSourceRow | null> {
    const source = await this.selectFrom('alert_sources as s')
      .select(columns(AlertSourceEntity, 's'))
      .where('s.service_id', '=', serviceId)
      .where('s.protocol', '=', protocol)
      .where('s.name', '=', name)
      .executeTakeFirst();
    return source ?? null;
  }

  /** Finds the sources of these names, and which of the services are gone. */
  async findAll(names: readonly (SourceName & { readonly serviceId: Id<'service'> })[]): Promise<NamedSource[]> {
    const asked = await FIND_ALL.rows(this.session, {
      serviceIds: names.map(({ serviceId }) => serviceId),
      protocols: names.map(({ protocol }) => protocol),
      names: names.map(({ name }) => name),
    });
    return asked.map(({ presentId, askedId, askedProtocol, askedName, ...stored }) => ({
      serviceId: askedId,
      protocol: askedProtocol,
      name: askedName,
      isGone: presentId === null,
      source: isSource(stored) ? stored : null,
    }));
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, sourceId: string): Promise<AlertSourceRow> {
    return await this.#named(orgId, sourceId).executeTakeFirstOrThrow(() => notFound('sourceId', 'source of alerts'));
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, sourceId: string): Promise<AlertSourceRow> {
    return await this.#named(orgId, sourceId)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('sourceId', 'source of alerts'));
  }

  #named(orgId: Id<'org'>, sourceId: string) {
    return this.selectFrom('alert_sources as s')
      .select(columns(AlertSourceEntity, 's'))
      .where('s.org_id', '=', orgId)
      .where('s.id', '=', asId('alertsource', sourceId));
  }

  /**
   * The source of this name, made when it is new. A service that has as many as it may gets one without a name for the
   * rest: nothing that was sent is refused for that.
   */
  async findOrCreate(
    { orgId, serviceId }: { readonly orgId: Id<'org'>; readonly serviceId: Id<'service'> },
    wanted: SourceName,
    now: Temporal.Instant,
  ): Promise<AlertSourceRow> {
    const source = await this.find(serviceId, wanted);
    if (source !== null) return source;
    const { count } = await this.selectFrom('alert_sources')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('service_id', '=', serviceId)
      .executeTakeFirstOrThrow();
    const name = count >= SOURCES_MAX ? '' : wanted.name;
    const row = { id: newId('alertsource'), orgId, serviceId, protocol: wanted.protocol, name, settings: {} };
    await this.insertInto('alert_sources')
      .values(toColumns(AlertSourceEntity, { ...row, createdAt: now, updatedAt: now }))
      .onConflict((conflict) => conflict.columns(['service_id', 'protocol', 'name']).doNothing())
      .execute();
    const made = await this.find(serviceId, { protocol: wanted.protocol, name });
    if (made === null) throw new Error('a source that was just made is there');
    return made;
  }

  async noteAlerts(changes: readonly SourceChange[], now: Temporal.Instant): Promise<void> {
    if (changes.length === 0) return;
    await NOTE_ALERTS.rows(this.session, {
      ids: changes.map(({ id }) => id),
      accepted: changes.map(({ accepted }) => accepted),
      longest: changes.map(({ repetition }) => repetition.longest),
      shortest: changes.map(({ repetition }) => repetition.shortest),
      now,
    });
  }

  async noteRefusal(id: Id<'alertsource'>, reason: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('alert_sources')
      .set(({ eb }) => ({ refused: eb('refused', '+', 1), last_refusal: reason, last_refused_at: now }))
      .where('id', '=', id)
      .execute();
  }

  async saveSettings(
    { id }: Pick<AlertSourceRow, 'id'>,
    settings: StoredSourceSettings,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.updateTable('alert_sources')
      .set({ settings: json(settings), updated_at: now })
      .where('id', '=', id)
      .execute();
  }

  /** Keeps a body, and of this source no more than the newest five. */
  async keepBody(body: Omit<Row<typeof AlertBodyEntity>, 'id'>): Promise<void> {
    const { db } = this;
    await db.insertInto('alert_bodies').values(toColumns(AlertBodyEntity, body)).execute();
    await db
      .deleteFrom('alert_bodies')
      .where('source_id', '=', body.sourceId)
      .where('id', 'not in', ({ selectFrom }) =>
        selectFrom('alert_bodies')
          .select('id')
          .where('source_id', '=', body.sourceId)
          .orderBy('id', 'desc')
          .limit(BODIES_KEPT),
      )
      .execute();
  }

  /** Newest first. */
  async listBodies(sourceId: Id<'alertsource'>): Promise<Row<typeof AlertBodyEntity>[]> {
    return await this.selectFrom('alert_bodies as b')
      .select(columns(AlertBodyEntity, 'b'))
      .where('b.source_id', '=', sourceId)
      .orderBy('b.id', 'desc')
      .limit(BODIES_KEPT)
      .execute();
  }

  /** Removes bodies that were received before. */
  async removeBodies(before: Temporal.Instant): Promise<void> {
    await sql`delete from alert_bodies where received_at < ${before}`.execute(this.db);
  }
}
