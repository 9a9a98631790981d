import type { AnyOperation } from '#actions/action_context.ts';
import { getIncident } from '#actions/incidents/get_incident.ts';
import { askPerson } from '#actions/responder/ask_person.ts';
import { getProposal } from '#actions/responder/get_proposal.ts';
import { proposeAction } from '#actions/responder/propose_action.ts';
import { releaseLease } from '#actions/responder/release_lease.ts';
import { renewLease } from '#actions/responder/renew_lease.ts';
import { takeLease } from '#actions/responder/take_lease.ts';
import { writeNote } from '#actions/responder/write_note.ts';

/** The tools of the endpoint of responders: at most eight. `get_incident` is the action of the contract. */
export const RESPONDER_TOOLS: readonly AnyOperation[] = [
  getIncident,
  takeLease,
  renewLease,
  releaseLease,
  writeNote,
  proposeAction,
  askPerson,
  getProposal,
];
