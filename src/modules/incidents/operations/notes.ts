import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, RequestKey, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { authorOf, getOwnNote, NOTES_MAX, NoteText, NoteView, placeOf, toNoteView } from '#modules/incidents/notes.ts';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { announceNote } from '#modules/places/announce.ts';

export const addIncidentNote = defineOperation({
  name: 'add_incident_note',
  summary: 'Write a note about an incident, which everybody of the organization reads in its timeline.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ incidentId: IdText, text: NoteText, requestKey: RequestKey }),
  result: NoteView,
  conflict: `the incident has ${NOTES_MAX} notes`,
  example: { text: 'The replica lags since the backup began.', requestKey: '0b6f3c52-7d0e-4f5e-9a41-2f9f0c6f7f11' },
  async handle({ incidentId, text, requestKey }, context) {
    const { stores, now, record } = context;
    const incident = await lockIncident(incidentId, context);
    const note = { incidentId: incident.id, userId: authorOf(context), agentName: null, requestKey };
    const earlier = await stores.incidentNotes.findByRequest(note);
    if (earlier !== null) return toNoteView(earlier);
    const notes = await stores.incidentNotes.list(incident.id, NOTES_MAX);
    if (notes.length >= NOTES_MAX) {
      throw new AppError('conflict', `an incident has at most ${NOTES_MAX} notes; edit or delete one of yours`);
    }
    const added = await stores.incidentNotes.insert({ ...note, body: text.trim() }, now);
    const place = { noteId: added.id, writtenAt: placeOf(context) };
    await announceNote(context, { orgId: incident.orgId, incidentId: incident.id }, place);
    record({ target: incident.id, before: null, after: { noteId: added.id, length: added.body.length } });
    return toNoteView(added);
  },
});

export const editIncidentNote = defineOperation({
  name: 'edit_incident_note',
  summary: "Change the text of one's own note about an incident.",
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    incidentId: IdText,
    noteId: IdText,
    text: NoteText,
    before: Type.String({
      maxLength: NOTE_LENGTH_MAX,
      description: 'the text that is changed: another one is a conflict',
    }),
  }),
  result: NoteView,
  conflict: 'the note was changed meanwhile',
  example: {
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

export const deleteIncidentNote = defineOperation({
  name: 'delete_incident_note',
  summary: "Delete one's own note about an incident.",
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ incidentId: IdText, noteId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), noteId: IdText }),
  async handle({ incidentId, noteId }, context) {
    const incident = await lockIncident(incidentId, context);
    const note = await getOwnNote(incident.id, noteId, context);
    await context.stores.incidentNotes.delete(note.id);
    context.record({ target: incident.id, before: { noteId: note.id, length: note.body.length }, after: null });
    return { deleted: true as const, noteId: note.id };
  },
});
