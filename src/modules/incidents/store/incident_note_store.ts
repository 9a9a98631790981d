import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, type Row, rowsChanged, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { IncidentNoteEntity } from '#storage/postgres/entities/incidents.ts';

const SHOWN = ['id', 'userId', 'agentName', 'body', 'createdAt', 'editedAt'] as const;

export type NoteRow = Pick<Row<typeof IncidentNoteEntity>, (typeof SHOWN)[number]>;

export type NewNote = Pick<
  Row<typeof IncidentNoteEntity>,
  'incidentId' | 'userId' | 'agentName' | 'body' | 'requestKey'
>;

/** Notes on incidents. Lock the incident before you change them. */
export class IncidentNoteStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

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
    await this.#session.db.insertInto('incident_notes').values(toColumns(IncidentNoteEntity, row)).execute();
    return row;
  }

  /** Writes the text unless somebody has changed it since it was `before`; false then. */
  async edit(noteId: Id<'note'>, before: string, body: string, now: Temporal.Instant): Promise<boolean> {
    const edited = await this.#session.db
      .updateTable('incident_notes')
      .set({ body, edited_at: now })
      .where('id', '=', noteId)
      .where('body', '=', before)
      .execute();
    return rowsChanged(edited) > 0;
  }

  async delete(noteId: Id<'note'>): Promise<void> {
    await this.#session.db.deleteFrom('incident_notes').where('id', '=', noteId).execute();
  }

  #notes(incidentId: Id<'incident'>) {
    return this.#session.db
      .selectFrom('incident_notes as n')
      .select(columns(IncidentNoteEntity, 'n', SHOWN))
      .where('n.incident_id', '=', incidentId);
  }
}
