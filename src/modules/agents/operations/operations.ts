import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import { getAgents } from '#modules/agents/operations/get_agents.ts';
import { getAgentWork } from '#modules/agents/operations/get_agent_work.ts';
import { setAgentLimits } from '#modules/agents/operations/set_agent_limits.ts';
import { setResponder } from '#modules/agents/operations/set_responder.ts';
import { stopAgents } from '#modules/agents/operations/stop_agents.ts';

/** Operations of the console for agents. */
export const AGENT_OPERATIONS = [
  getAgentWork,
  answerProposal,
  getAgents,
  setResponder,
  setAgentLimits,
  stopAgents,
] as const satisfies readonly AnyConsoleOperation[];
