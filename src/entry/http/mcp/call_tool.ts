import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

import type { AnyAction } from '#actions/action_context.ts';
import { getAction } from '#actions/registry.ts';
import { runAction } from '#actions/run_action.ts';
import { senderIdOf } from '#entry/http/connections/call_budget.ts';
import { adviseOn, adviseOnUnknown, type Suggestion } from '#entry/http/mcp/advice/advise.ts';
import { readAgentInput } from '#entry/http/mcp/agent_input.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import { nextStepAfter } from '#entry/http/mcp/next_step.ts';
import { type ToolAnswer, toToolAnswer } from '#entry/http/mcp/tool_answer.ts';
import { toLoggedAppError, toProblem } from '#entry/http/problem.ts';
import { messageOf } from '#kernel/errors.ts';

/** Runs a tool for the SDK. Throws an error of the protocol if the tool is unknown. */
export async function callTool(exchange: Exchange, name: string, input: unknown): Promise<CallToolResult> {
  return (await runTool(exchange, await getTool(exchange, name, input), input)).result;
}

/** Runs the action of a tool through the same pipeline as REST. Refusals and failures are results agents can act on. */
export async function runTool(exchange: Exchange, action: AnyAction, sent: unknown): Promise<ToolAnswer> {
  const input = readAgentInput(action.input, sent);
  try {
    const { runtime, budget, caller, origin } = exchange;
    const result = await budget.run(senderIdOf(caller), () => runAction(runtime, action, caller, input, origin));
    return toToolAnswer(action, input, result);
  } catch (error) {
    return { result: await failed(action, input, error, exchange), exact: null };
  }
}

async function getTool(exchange: Exchange, name: string, input: unknown): Promise<AnyAction> {
  try {
    return getAction(name);
  } catch (error) {
    const suggestion = await adviseOnUnknown(exchange, name, input);
    const lines = [`Unknown tool: ${messageOf(error)}`, ...(suggestion === null ? [] : [callOf(suggestion)])];
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, lines.join('\n'));
  }
}

/** Renders the call as one line, which programs can read, too. */
function callOf({ name, arguments: input }: Suggestion): string {
  return `Call instead: ${name} ${JSON.stringify(input)}`;
}

/** Returns code, sentence and next step for the agent; `_meta.problem` is the problem that REST would answer. */
async function failed(action: AnyAction, input: unknown, error: unknown, exchange: Exchange): Promise<CallToolResult> {
  const { requestId } = exchange.origin;
  const appError = toLoggedAppError(error, requestId, exchange.log);
  const { sentences, suggestion } = await adviseOn(exchange, action, input, appError);
  const lines = [
    `${appError.code}: ${appError.message}`,
    nextStepAfter(appError, action),
    ...sentences,
    ...(suggestion === null ? [] : [callOf(suggestion)]),
    ...(appError.code === 'internal' ? [`Request id: ${requestId}`] : []),
  ];
  return {
    isError: true,
    content: [{ type: 'text', text: lines.join('\n') }],
    _meta: { problem: toProblem(appError, requestId) },
  };
}
