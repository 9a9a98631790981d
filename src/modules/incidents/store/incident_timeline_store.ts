import { sql } from 'kysely';

import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, json, PostgresStore, type Row, rowsChanged, rowsOf, toColumns } from '#storage/postgres/store.ts';
import { IncidentNoteEntity, type IncidentTimelineEntity } from '#storage/postgres/entities/incidents.ts';

export type TimelineRow = Pick<Row<typeof IncidentTimelineEntity>, 'at' | 'event' | 'data'>;

export class IncidentTimelineStore extends PostgresStore {
  async record(incidentId: Id<'incident'>, event: string, data: object, now: Temporal.Instant): Promise<void> {
    await this.recordAll([{ incidentId, event, data }], now);
  }

  /** Records events in the order given; those of incidents that are gone are dropped. */
  async recordAll(
    events: readonly { readonly incidentId: Id<'incident'>; readonly event: string; readonly data: object }[],
    now: Temporal.Instant,
  ): Promise<void> {
    if (events.length === 0) return;
    const entries = rowsOf('e', {
      place: ['integer', events.map((_, index) => index)],
      incident_id: ['text', events.map(({ incidentId }) => incidentId)],
      event: ['text', events.map(({ event }) => event)],
      data: ['json', events.map(({ data }) => json(data))],
    });
    await this.insertInto('incident_timeline')
      .columns(['incident_id', 'at', 'event', 'data'])
      .expression((eb) =>
        eb
          .selectFrom(entries)
          .innerJoin('incidents as i', 'i.id', 'e.incident_id')
          .select(['i.id', sql`${now}::timestamptz`.as('at'), 'e.event', 'e.data'])
          .orderBy('e.place'),
      )
      .execute();
  }

  /** The newest so many, oldest first. */
  async list(incidentId: Id<'incident'>, limit: number): Promise<TimelineRow[]> {
    const newest = await this.selectFrom('incident_timeline')
      .select(['at', 'event', 'data'])
      .where('incident_id', '=', incidentId)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return newest.toReversed();
  }

  /** Lists what a person has done to incidents after a time, oldest first. */
  async listDoneBy(
    userId: Id<'user'>,
    incidentIds: readonly Id<'incident'>[],
    { events, since }: { readonly events: readonly string[]; readonly since: Temporal.Instant },
  ): Promise<Pick<Row<typeof IncidentTimelineEntity>, 'incidentId' | 'at' | 'event'>[]> {
    if (incidentIds.length === 0) return [];
    return await this.selectFrom('incident_timeline')
      .select(['incident_id as incidentId', 'at', 'event'])
      .where('incident_id', 'in', incidentIds)
      .where('event', 'in', events)
      .where('at', '>', since)
      .where(sql`data #>> '{by,userId}'`, '=', userId)
      .orderBy('id')
      .execute();
  }

  async count(incidentId: Id<'incident'>): Promise<number> {
    const { count } = await this.selectFrom('incident_timeline')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', '=', incidentId)
      .executeTakeFirstOrThrow();
    return count;
  }
}

const SHOWN = ['id', 'userId', 'agentName', 'body', 'createdAt', 'editedAt'] as const;

export type NoteRow = Pick<Row<typeof IncidentNoteEntity>, (typeof SHOWN)[number]>;

type NewNote = Pick<Row<typeof IncidentNoteEntity>, 'incidentId' | 'userId' | 'agentName' | 'body' | 'requestKey'>;

/** Notes on incidents. Lock the incident before you change them. */
export class IncidentNoteStore extends PostgresStore {
  /** Oldest first. */
  async list(incidentId: Id<'incident'>, limit: number): Promise<NoteRow[]> {
    return await this.#notes(incidentId).orderBy('n.created_at').orderBy('n.id').limit(limit).execute();
  }

  async find(incidentId: Id<'incident'>, noteId: string): Promise<NoteRow | null> {
    return (await this.#notes(incidentId).where('n.id', '=', asId('note', noteId)).executeTakeFirst()) ?? null;
  }

  async findByRequest({
    incidentId,
    userId,
    requestKey,
  }: Pick<NewNote, 'incidentId' | 'userId' | 'requestKey'>): Promise<NoteRow | null> {
    const note = await this.#notes(incidentId)
      .where('n.user_id', '=', userId)
      .where('n.request_key', '=', requestKey)
      .executeTakeFirst();
    return note ?? null;
  }

  async insert(note: NewNote, now: Temporal.Instant): Promise<NoteRow> {
    const row = { id: newId('note'), ...note, createdAt: now, editedAt: null };
    await this.insertInto('incident_notes').values(toColumns(IncidentNoteEntity, row)).execute();
    return row;
  }

  /** Writes the text unless somebody has changed it since it was `before`; false then. */
  async edit(noteId: Id<'note'>, before: string, body: string, now: Temporal.Instant): Promise<boolean> {
    const edited = await this.updateTable('incident_notes')
      .set({ body, edited_at: now })
      .where('id', '=', noteId)
      .where('body', '=', before)
      .execute();
    return rowsChanged(edited) > 0;
  }

  async delete(noteId: Id<'note'>): Promise<void> {
    await this.deleteFrom('incident_notes').where('id', '=', noteId).execute();
  }

  #notes(incidentId: Id<'incident'>) {
    return this.selectFrom('incident_notes as n')
      .select(columns(IncidentNoteEntity, 'n', SHOWN))
      .where('n.incident_id', '=', incidentId);
  }
}
