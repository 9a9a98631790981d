import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { answerProposal } from '#actions/responder/answer_proposal.ts';
import { getAgents } from '#actions/responder/get_agents.ts';
import { getAgentWork } from '#actions/responder/get_agent_work.ts';
import { setAgentLimits } from '#actions/responder/set_agent_limits.ts';
import { setResponder } from '#actions/responder/set_responder.ts';
import { stopAgents } from '#actions/responder/stop_agents.ts';

/** Operations of the console for agents. */
export const AGENT_OPERATIONS = [
  getAgentWork,
  answerProposal,
  getAgents,
  setResponder,
  setAgentLimits,
  stopAgents,
] as const satisfies readonly AnyConsoleOperation[];
