import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { LeaseView, ProposalView, toLeaseView, toProposalViews } from '#modules/agents/operations/view.ts';

const SHOWN = 20;

export const getAgentWork = defineAction({
  name: 'get_agent_work',
  consoleOnly: true,
  summary: 'What agents do about an incident: the last lease on it, and what they propose and ask, newest first.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, STRICT),
  result: Type.Object({
    lease: nullable(LeaseView),
    proposals: Type.Array(ProposalView, { description: `the newest ${SHOWN}` }),
    total: Type.Integer(),
  }),
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const lease = await stores.incidentLeases.find(incident.id);
    const proposals = await stores.proposals.listOf(incident.id, SHOWN);
    return {
      lease: lease === null ? null : toLeaseView(lease, now),
      proposals: await toProposalViews(proposals, context),
      total: proposals.length < SHOWN ? proposals.length : await stores.proposals.countOf(incident.id),
    };
  },
});
