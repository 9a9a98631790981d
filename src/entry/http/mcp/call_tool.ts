import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

import type { AnyAction } from '#actions/action_context.ts';
import { getAction } from '#actions/registry.ts';
import { type ActionRuntime, runAction } from '#actions/run_action.ts';
import { type CallBudget, senderIdOf } from '#entry/http/call_budget.ts';
import { nextStepAfter } from '#entry/http/mcp/next_step.ts';
import { toToolAnswer } from '#entry/http/mcp/tool_answer.ts';
import { toLoggedAppError, toProblem } from '#entry/http/problem.ts';
import type { Caller, RequestOrigin } from '#core/access/caller.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';

/** One request and its caller. */
export interface Exchange {
  readonly runtime: ActionRuntime;
  readonly budget: CallBudget;
  readonly log: Log;
  readonly caller: Caller;
  readonly origin: RequestOrigin;
}

/**
 * Runs the action of a tool through the same pipeline as REST. An unknown tool is an error of the protocol; whatever
 * is refused or fails is a result that an agent can read and act on.
 */
export async function callTool(exchange: Exchange, name: string, input: unknown): Promise<CallToolResult> {
  const action = getTool(name);
  try {
    const { runtime, budget, caller, origin } = exchange;
    const result = await budget.run(senderIdOf(caller), () => runAction(runtime, action, caller, input, origin));
    return toToolAnswer(action, input, result);
  } catch (error) {
    return failed(action, error, exchange);
  }
}

function getTool(name: string): AnyAction {
  try {
    return getAction(name);
  } catch (error) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${messageOf(error)}`);
  }
}

/** Code, sentence and next step for the agent; `_meta.problem` is the problem that REST would answer. */
function failed(action: AnyAction, error: unknown, { origin: { requestId }, log }: Exchange): CallToolResult {
  const known = toLoggedAppError(error, requestId, log);
  const lines = [
    `${known.code}: ${known.message}`,
    nextStepAfter(known, action),
    ...(known.code === 'internal' ? [`Request id: ${requestId}`] : []),
  ];
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    _meta: { problem: toProblem(known, requestId) },
  };
}
