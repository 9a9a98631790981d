import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { ProposalView, toProposalViews } from '#modules/agents/operations/view.ts';
import { notFound } from '#kernel/errors.ts';

export const getProposal = defineAction({
  name: 'get_proposal',
  consoleOnly: true,
  isForResponders: true,
  summary: 'Return the state of a proposal or a question: who answered, when, and in which words.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ proposalId: IdText }, STRICT),
  result: ProposalView,
  example: { proposalId: EXAMPLE_IDS.proposalId },
  async handle({ proposalId }, context) {
    const proposal = await context.stores.proposals.find(context.caller.orgId, proposalId);
    if (proposal === null) throw notFound('proposalId', 'proposal');
    const [view] = await toProposalViews([proposal], context);
    if (view === undefined) throw new Error('a proposal has a view');
    return view;
  },
});
