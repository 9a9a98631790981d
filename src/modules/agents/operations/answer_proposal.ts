import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { ProposalView, toProposalViews } from '#modules/agents/operations/view.ts';
import { toIncidentActor } from '#modules/incidents/decide/incident.ts';
import { proposalStateOf, statusAfter } from '#modules/agents/decide/proposal.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { ProposalRow } from '#modules/agents/store/proposal_store.ts';

export const answerProposal = defineOperation({
  name: 'answer_proposal',
  summary:
    'Answer what an agent proposes or asks. A yes to a proposal carries the action out at once, in your name and with your permissions.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    proposalId: IdText,
    answer: Type.Enum(['yes', 'no']),
    text: Type.Optional(Type.String({ maxLength: 500 })),
  }),
  result: ProposalView,
  conflict: 'it was answered already, has expired, or its agent was stopped',
  refusals: ['not_found', 'forbidden'],
  example: { answer: 'yes', text: 'Go on.' },
  async handle({ proposalId, answer, text }, context) {
    const { stores, caller, now } = context;
    callerUser(caller);
    const proposal = await stores.proposals.find(caller.orgId, proposalId);
    if (proposal === null) throw notFound('proposalId', 'proposal');
    const status = statusAfter(proposal.kind, answer);
    const by = toIncidentActor(caller.actor, caller.via);
    const words = text === undefined || text.trim() === '' ? null : text.trim();
    if (!(await stores.proposals.settle(proposal, { status, by, answer: words }, now))) {
      throw new AppError('conflict', await refusalOf(proposal, context));
    }
    if (status === 'carried_out') await runApproved(proposal, context);
    const { incidentId, number, agentName } = proposal;
    const entry = { by, agent: agentName, number, status, ...(words !== null && { answer: words }) };
    await stores.timeline.record(incidentId, 'proposal_answered', entry, now);
    context.record({
      target: incidentId,
      before: { proposalId: proposal.id, status: 'proposed' },
      after: { proposalId: proposal.id, status, agentId: proposal.agentId, agentName, action: proposal.action },
    });
    const after = await stores.proposals.find(caller.orgId, proposal.id);
    const [view] = await toProposalViews(after === null ? [] : [after], context);
    if (view === undefined) throw new Error('a proposal that was answered is there');
    return view;
  },
});

async function runApproved(
  { id, agentId, agentName, action, input }: ProposalRow,
  context: ActionContext,
): Promise<void> {
  if (action === null) throw new Error(`the proposal ${id} has no action`);
  await context.runApproved(action, input, { proposalId: id, agentId, agentName });
}

async function refusalOf({ id, orgId }: ProposalRow, { stores, now }: ActionContext): Promise<string> {
  const present = await stores.proposals.find(orgId, id);
  const state = present === null ? 'expired' : proposalStateOf(present, now);
  switch (state) {
    case 'proposed':
      return 'its agent was stopped, or may no longer respond; nothing that it proposed is carried out';
    case 'expired':
      return 'this proposal has expired; nothing was changed';
    case 'approved':
    case 'rejected':
    case 'carried_out':
      return 'somebody has answered this already; nothing was changed';
  }
}
