import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, RequestKey } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { authorOf, NOTES_MAX, NoteText, NoteView, placeOf, toNoteView } from '#modules/incidents/notes.ts';
import { announceNote } from '#modules/places/announce.ts';
import { AppError } from '#kernel/errors.ts';

export const addIncidentNote = defineAction({
  name: 'add_incident_note',
  consoleOnly: true,
  summary: 'Write a note about an incident, which everybody of the organization reads in its timeline.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ incidentId: IdText, text: NoteText, requestKey: RequestKey }, STRICT),
  result: NoteView,
  conflict: `the incident has ${NOTES_MAX} notes`,
  example: {
    incidentId: EXAMPLE_IDS.incidentId,
    text: 'The replica lags since the backup began.',
    requestKey: '0b6f3c52-7d0e-4f5e-9a41-2f9f0c6f7f11',
  },
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
