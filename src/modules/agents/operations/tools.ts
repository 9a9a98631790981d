import type { AnyOperation } from '#actions/action_context.ts';
import { getIncident } from '#modules/incidents/operations/get_incident.ts';
import { getLoadOnPeople } from '#modules/load/operations/load_on_people.ts';
import { askPerson, getProposal, proposeAction } from '#modules/agents/operations/proposals.ts';
import { releaseLease, renewLease, takeLease } from '#modules/agents/operations/lease.ts';
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
