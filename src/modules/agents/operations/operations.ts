import type { AnyConsoleOperation } from '#actions/action_context.ts';
import { answerProposal } from '#modules/agents/operations/answer_proposal.ts';
import {
  getAgents,
  getAgentWork,
  setAgentLimits,
  setResponder,
  stopAgents,
} from '#modules/agents/operations/agents.ts';

/** Operations of the console for agents. */
export const AGENT_OPERATIONS = [
  getAgentWork,
  answerProposal,
  getAgents,
  setResponder,
  setAgentLimits,
  stopAgents,
] as const satisfies readonly AnyConsoleOperation[];
