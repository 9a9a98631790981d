import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

import type { AnyAction } from '#actions/action_context.ts';
import { getAction } from '#actions/registry.ts';
import { runAction } from '#actions/run_action.ts';
import { senderIdOf } from '#entry/http/connections/call_budget.ts';
import { adviseOn, adviseOnUnknown, type Suggestion } from '#entry/http/mcp/advice/advise.ts';
import { readAgentInput } from '#entry/http/mcp/agent_input.ts';
import type { Exchange } from '#entry/http/mcp/exchange.ts';
import { type ToolAnswer, toToolAnswer } from '#entry/http/mcp/tool_answer.ts';
import { toLoggedAppError, toProblem } from '#entry/http/problem.ts';
import { type AppError, messageOf } from '#kernel/errors.ts';
import { idSourceOf } from '#actions/id_sources.ts';

/** Returns what an agent can do about a refusal, in a sentence or two. */
function nextStepAfter(error: AppError, action: AnyAction): string {
  switch (error.code) {
    case 'invalid_input':
      return `Correct the arguments that are named and call ${action.name} again.`;
    case 'forbidden':
    case 'insufficient_scope':
      return `Do not repeat the call. Ask somebody who manages the organization for ${action.permission}, or use another tool.`;
    case 'not_found':
      return afterNotFound(error);
    case 'conflict':
      return action.conflictHint ?? 'Read the present state and decide again.';
    case 'unavailable':
    case 'rate_limited':
      return `Nothing was changed. Call again in ${error.retryAfterSeconds ?? 1} s.`;
    case 'internal':
      return 'Do not repeat the call as it is. Report the request id to the operator of Tocsin.';
    case 'second_factor_required':
    case 'step_up_required':
    case 'unauthenticated':
    case 'unknown_action':
    case 'method_not_allowed':
    case 'payload_too_large':
    case 'unsupported_media_type':
      return 'Correct the request and call again.';
  }
}

/** Names the tools that list ids of the kinds that were not found; `steps[0].targetUserIds[1]` is a userId. */
function afterNotFound({ faults }: AppError): string {
  const names = faults.map(({ path }) => nameOfId(path));
  const tools = new Set(names.flatMap((name) => idSourceOf(name)?.shownBy ?? []));
  const sentences = [...tools].map((tool) => `${tool} shows the ids that there are.`);
  return [...sentences, 'What is named may have been deleted.'].join(' ');
}

function nameOfId(path: string): string {
  const property =
    path
      .replaceAll(/\[\d+\]/g, '')
      .split('.')
      .at(-1) ?? '';
  return /userIds?$/i.test(property) ? 'userId' : property;
}

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
