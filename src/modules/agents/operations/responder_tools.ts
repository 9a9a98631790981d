import { type Static, Type } from 'typebox';

import { type AnyOperation, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { type Temporal, toTimestampOrNull } from '#kernel/time.ts';
import {
  type HeldLease,
  releaseLease as release,
  renewLease as renew,
  takeLease as take,
} from '#modules/agents/agent_lease.ts';
import { LEASE_MINUTES_DEFAULT, LEASE_MINUTES_MAX } from '#modules/agents/decide/lease.ts';
import { lockIncident } from '#modules/incidents/change_status.ts';
import { NOTES_MAX, NoteText, NoteView, toNoteView } from '#modules/incidents/notes.ts';
import { getIncident } from '#modules/incidents/operations/get_incident.ts';
import { getLoadOnPeople } from '#modules/load/operations/load_on_people.ts';
import { announceNote } from '#modules/places/announce.ts';
import { askPerson, getProposal, proposeAction } from './proposals.ts';
import { LeaseView, responderOf, toLeaseView } from './view.ts';

const LeaseMinutes = Type.Integer({
  minimum: 1,
  maximum: LEASE_MINUTES_MAX,
  description: `from now; ${LEASE_MINUTES_DEFAULT} when absent`,
});

const LeaseResult = Type.Object({ incidentId: IdText, lease: LeaseView, heldUntil: nullable(Timestamp) });

function toLeaseResult({ lease, heldUntil }: HeldLease, now: Temporal.Instant): Static<typeof LeaseResult> {
  return { incidentId: lease.incidentId, lease: toLeaseView(lease, now), heldUntil: toTimestampOrNull(heldUntil) };
}

export const takeLease = defineOperation({
  name: 'take_lease',
  isForResponders: true,
  summary:
    'Show people that you work on an incident. Renew it before it expires, or it is lost. The escalation goes on; heldUntil tells when the first step waits for you.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText, minutes: Type.Optional(LeaseMinutes) }),
  result: LeaseResult,
  conflict: 'another agent holds it, the incident is resolved, or you hold ten leases already',
  example: { minutes: 5 },
  async handle({ incidentId, minutes = LEASE_MINUTES_DEFAULT }, context) {
    const incident = await lockIncident(incidentId, context);
    const taken = await take(context, incident, responderOf(context.caller), minutes);
    context.record({ target: incident.id, before: null, after: { lease: 'held', minutes } });
    return toLeaseResult(taken, context.now);
  },
});

export const renewLease = defineOperation({
  name: 'renew_lease',
  isForResponders: true,
  isExemptFromCap: true,
  summary: 'Extend a lease that you hold. It then ends this many minutes from now.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText, minutes: Type.Optional(LeaseMinutes) }),
  result: LeaseResult,
  conflict: 'you do not hold it any more',
  example: { minutes: 5 },
  async handle({ incidentId, minutes = LEASE_MINUTES_DEFAULT }, context) {
    const incident = await lockIncident(incidentId, context);
    const renewed = await renew(context, incident, responderOf(context.caller), minutes);
    context.record({ target: incident.id, before: { lease: 'held' }, after: { lease: 'renewed', minutes } });
    return toLeaseResult(renewed, context.now);
  },
});

export const releaseLease = defineOperation({
  name: 'release_lease',
  isForResponders: true,
  isExemptFromCap: true,
  summary: 'Stop working on an incident. A first step that waited for you fires at once.',
  permission: 'oncall:view',
  effect: 'write',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object({
    incidentId: IdText,
    released: Type.Boolean({ description: 'false when you did not hold it' }),
  }),
  async handle({ incidentId }, context) {
    const incident = await lockIncident(incidentId, context);
    const released = await release(context, incident, responderOf(context.caller), 'released');
    if (released) context.record({ target: incident.id, before: { lease: 'held' }, after: { lease: 'released' } });
    return { incidentId: incident.id, released };
  },
});

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
    const { orgId } = incident;
    await announceNote(context, { orgId, incidentId: incident.id }, { noteId: added.id, writtenAt: null });
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
