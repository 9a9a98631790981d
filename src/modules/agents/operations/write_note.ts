import { type AnyOperation, defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { responderOf } from '#modules/agents/operations/view.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { NOTES_MAX, NoteText, NoteView, toNoteView } from '#modules/incidents/notes.ts';
import { getIncident } from '#modules/incidents/operations/get_incident.ts';
import { getLoadOnPeople } from '#modules/load/operations/load_on_people.ts';
import { askPerson, getProposal, proposeAction } from '#modules/agents/operations/proposals.ts';
import { releaseLease, renewLease, takeLease } from '#modules/agents/operations/lease.ts';

/** Limit on the notes of one agent on one incident, so that people always find room for theirs. */
const AGENT_NOTES_MAX = 50;

const writeNote = defineOperation({
  name: 'write_note',
  isForResponders: true,
  summary:
    'Write what you found into the timeline of an incident, under the name of the agent. The same text twice is one note.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText, text: NoteText }),
  result: NoteView,
  conflict: `you have written ${AGENT_NOTES_MAX} notes on it, or it has ${NOTES_MAX}`,
  example: { text: 'Errors began with release 2.4.1, two minutes before the trigger.' },
  async handle({ incidentId, text }, context) {
    const { stores, now, record, caller } = context;
    const { agentId, agentName } = responderOf(caller);
    const incident = await lockIncident(incidentId, context);
    const body = text.trim();
    // A key of the organization has no user, so its own id is used instead.
    const userId = caller.actor.kind === 'user' ? caller.actor.userId : asId('user', agentId);
    const requestKey = hashSecret(`${agentId}\n${body}`).toString('base64url').slice(0, 40);
    const note = { incidentId: incident.id, userId, requestKey };
    const earlier = await stores.incidentNotes.findByRequest(note);
    if (earlier !== null) return toNoteView(earlier);
    const notes = await stores.incidentNotes.list(incident.id, NOTES_MAX);
    const writtenCount = notes.filter((other) => other.agentName === agentName).length;
    if (notes.length >= NOTES_MAX || writtenCount >= AGENT_NOTES_MAX) {
      throw new AppError(
        'conflict',
        `an agent writes at most ${AGENT_NOTES_MAX} notes on an incident, and it has at most ${NOTES_MAX}`,
      );
    }
    const added = await stores.incidentNotes.insert({ ...note, agentName, body }, now);
    record({ target: incident.id, before: null, after: { noteId: added.id, length: body.length } });
    return toNoteView(added);
  },
});

/** The tools of the endpoint of responders: at most nine. `get_incident` is the action of the contract. */
export const RESPONDER_TOOLS: readonly AnyOperation[] = [
  getIncident,
  takeLease,
  renewLease,
  releaseLease,
  writeNote,
  proposeAction,
  askPerson,
  getProposal,
  getLoadOnPeople,
];
