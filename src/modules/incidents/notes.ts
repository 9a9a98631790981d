import { type Static, Type } from 'typebox';

import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { NoteRow } from '#modules/incidents/store/incident_timeline_store.ts';

export const NOTES_MAX = 200;

export const NoteText = Type.String({
  minLength: 1,
  maxLength: NOTE_LENGTH_MAX,
  pattern: '\\S',
  description: 'a text that is not blank',
});

export const NoteView = Type.Object({
  noteId: IdText,
  userId: IdText,
  agentName: nullable(Type.String({ description: 'the agent that wrote it, for this person or with an API key' })),
  text: Type.String(),
  createdAt: Timestamp,
  editedAt: nullable(Timestamp),
});

export function toNoteView({ id, userId, agentName, body, createdAt, editedAt }: NoteRow): Static<typeof NoteView> {
  return {
    noteId: id,
    userId,
    agentName,
    text: body,
    createdAt: toTimestamp(createdAt),
    editedAt: toTimestampOrNull(editedAt),
  };
}

/** Returns the person who writes. Throws `forbidden` for a program. */
export function authorOf({ caller: { actor } }: ActionContext): Id<'user'> {
  if (actor.kind === 'user') return actor.userId;
  throw new AppError('forbidden', 'only people write notes');
}

/** Returns the place where the caller writes; null when that is no chat. */
export function placeOf({ caller: { actor } }: ActionContext): string | null {
  return actor.kind === 'user' ? (actor.chatAccount?.placeId ?? null) : null;
}

/** Returns a note of the caller's own. Throws `not_found`, or `forbidden` for somebody else's. */
export async function getOwnNote(incidentId: Id<'incident'>, noteId: string, context: ActionContext): Promise<NoteRow> {
  const note = await context.stores.incidentNotes.find(incidentId, noteId);
  if (note === null) throw notFound('noteId', 'note');
  if (note.userId !== authorOf(context) || note.agentName !== null)
    throw new AppError('forbidden', 'only who wrote a note may change it');
  return note;
}
