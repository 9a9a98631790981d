import { Type } from 'typebox';

import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { getOwnNote, NoteText, NoteView, toNoteView } from '#modules/incidents/notes.ts';
import { AppError } from '#kernel/errors.ts';

export const editIncidentNote = defineAction({
  name: 'edit_incident_note',
  consoleOnly: true,
  summary: "Change the text of one's own note about an incident.",
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object(
    {
      incidentId: IdText,
      noteId: IdText,
      text: NoteText,
      before: Type.String({
        maxLength: NOTE_LENGTH_MAX,
        description: 'the text that is changed: another one is a conflict',
      }),
    },
    STRICT,
  ),
  result: NoteView,
  conflict: 'the note was changed meanwhile',
  example: {
    incidentId: EXAMPLE_IDS.incidentId,
    noteId: EXAMPLE_IDS.noteId,
    text: 'The replica lags since the backup of 02:00 began.',
    before: 'The replica lags since the backup began.',
  },
  async handle({ incidentId, noteId, text, before }, context) {
    const { stores, now, record } = context;
    const incident = await lockIncident(incidentId, context);
    const note = await getOwnNote(incident.id, noteId, context);
    const body = text.trim();
    if (note.body === body) return toNoteView(note);
    if (!(await stores.incidentNotes.edit(note.id, before, body, now))) {
      throw new AppError('conflict', 'you have changed this note elsewhere; look at its text now');
    }
    const change = { noteId: note.id, length: note.body.length };
    record({ target: incident.id, before: change, after: { ...change, length: body.length, isEdited: true } });
    return toNoteView({ ...note, body, editedAt: now });
  },
});
