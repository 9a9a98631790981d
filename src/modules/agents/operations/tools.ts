import type { AnyOperation } from '#actions/action_context.ts';
import { getIncident } from '#modules/incidents/operations/get_incident.ts';
import { getLoadOnPeople } from '#modules/load/operations/get_load_on_people.ts';
import { askPerson } from '#modules/agents/operations/ask_person.ts';
import { getProposal } from '#modules/agents/operations/get_proposal.ts';
import { proposeAction } from '#modules/agents/operations/propose_action.ts';
import { releaseLease } from '#modules/agents/operations/release_lease.ts';
import { renewLease } from '#modules/agents/operations/renew_lease.ts';
import { takeLease } from '#modules/agents/operations/take_lease.ts';
import { writeNote } from '#modules/agents/operations/write_note.ts';

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
