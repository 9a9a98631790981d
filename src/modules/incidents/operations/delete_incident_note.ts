import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { getOwnNote } from '#modules/incidents/notes.ts';

export const deleteIncidentNote = defineAction({
  name: 'delete_incident_note',
  consoleOnly: true,
  summary: "Delete one's own note about an incident.",
  permission: 'oncall:edit',
  effect: 'delete',
  input: Type.Object({ incidentId: IdText, noteId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), noteId: IdText }),
  example: { incidentId: EXAMPLE_IDS.incidentId, noteId: EXAMPLE_IDS.noteId },
  async handle({ incidentId, noteId }, context) {
    const incident = await lockIncident(incidentId, context);
    const note = await getOwnNote(incident.id, noteId, context);
    await context.stores.incidentNotes.delete(note.id);
    context.record({ target: incident.id, before: { noteId: note.id, length: note.body.length }, after: null });
    return { deleted: true as const, noteId: note.id };
  },
});
