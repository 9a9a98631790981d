import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { actorText } from '#modules/incidents/decide/incident_actor.ts';
import { leaseStateOf } from '#modules/agents/decide/lease.ts';
import { proposalStateOf, proposedText } from '#modules/agents/decide/proposal.ts';
import { describeProposal } from '#modules/agents/proposed_objects.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { IncidentLeaseRow } from '#modules/agents/store/responder_store.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';

export const LeaseView = Type.Object({
  agentName: Type.String(),
  state: Type.Enum(['held', 'released', 'lost'], { description: '`lost`: the agent stopped renewing it' }),
  takenAt: Timestamp,
  renewedAt: Timestamp,
  expiresAt: Timestamp,
  releasedAt: nullable(Timestamp),
});

export const ProposalView = Type.Object({
  proposalId: IdText,
  incidentId: IdText,
  number: Type.Integer({ description: 'what a person types in a reply: YES 7' }),
  kind: Type.Enum(['action', 'question']),
  agentName: Type.String(),
  action: nullable(Type.String()),
  proposed: nullable(Type.String({ description: 'what would be done, with the names that things have here' })),
  input: nullable(Type.Record(Type.String(), Type.Unknown())),
  sentence: Type.String({ description: 'the reason, or the question' }),
  evidence: Type.Array(Type.String()),
  state: Type.Enum(['proposed', 'approved', 'rejected', 'carried_out', 'expired']),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  decidedAt: nullable(Timestamp),
  decidedBy: nullable(Type.String({ description: 'in words' })),
  answer: nullable(Type.String({ description: 'what the person added, in words' })),
});

export function toLeaseView(lease: IncidentLeaseRow, now: Temporal.Instant): Static<typeof LeaseView> {
  return {
    agentName: lease.agentName,
    state: leaseStateOf(lease, now),
    takenAt: toTimestamp(lease.takenAt),
    renewedAt: toTimestamp(lease.renewedAt),
    expiresAt: toTimestamp(lease.expiresAt),
    releasedAt: toTimestampOrNull(lease.releasedAt),
  };
}

/** Returns proposals as people and agents see them, with who has answered by name. */
export async function toProposalViews(
  proposals: readonly ProposalRow[],
  { stores, caller, now }: Pick<ActionContext, 'stores' | 'caller' | 'now'>,
): Promise<Static<typeof ProposalView>[]> {
  const deciders = proposals.flatMap(({ decidedBy }) =>
    decidedBy !== null && 'userId' in decidedBy ? [decidedBy.userId] : [],
  );
  const people = await stores.people.listPeople(caller.orgId, deciders);
  const nameOf = (userId: string) => people.get(userId)?.name ?? 'somebody who has left';
  const described = await Promise.all(proposals.map((proposal) => describeProposal(stores, proposal)));
  return described.map((proposal) => ({
    proposalId: proposal.id,
    incidentId: proposal.incidentId,
    number: proposal.number,
    kind: proposal.kind,
    agentName: proposal.agentName,
    action: proposal.action,
    proposed: proposal.action === null ? null : proposedText(proposal),
    input: proposal.input,
    sentence: proposal.sentence,
    evidence: [...proposal.evidence],
    state: proposalStateOf(proposal, now),
    createdAt: toTimestamp(proposal.createdAt),
    expiresAt: toTimestamp(proposal.expiresAt),
    decidedAt: toTimestampOrNull(proposal.decidedAt),
    decidedBy: proposal.decidedBy === null ? null : actorText(proposal.decidedBy, nameOf),
    answer: proposal.answer,
  }));
}

/** Returns the agent that calls: the endpoint of responders has checked that it may. */
export function responderOf({ responder }: Caller): NonNullable<Caller['responder']> {
  if (responder === undefined) throw new Error('a tool of responders was called by somebody else');
  return responder;
}
