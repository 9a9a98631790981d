import type { Tool, ToolCaller } from './mcp_session.ts';
import { type Cause, CAUSES } from './scenes.ts';

export interface Model {
  /** Address of an endpoint that speaks OpenAI's chat completions, without `/chat/completions`. */
  readonly url: string;
  readonly name: string;
  readonly key: string | undefined;
}

interface Message {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
  readonly tool_call_id?: string;
}

const CALLS_MAX = 12;
const TIMEOUT_MS = 120_000;

const TASK = [
  'You have the night shift. Find the cause of one incident with the tools, which only look. You have twelve calls.',
  `The cause is one of: ${CAUSES.join(', ')}.`,
  'healthy: the rule fired for a single odd value, and nothing is wrong. recovered: it was bad and is over by itself. missing_metric: a part stopped to report, as it no longer runs.',
  'Every service sends the same signals: http_errors_percent, memory_mb, upstream_latency_ms, host_steal_percent, clock_offset_ms, retries_per_second, worker_heartbeat.',
  'Blame nothing without evidence. End with one line: {"cause": "…"}',
].join('\n');

/** The same night with a model that may call every tool that only looks. */
export async function investigateWithModel(
  session: ToolCaller,
  model: Model,
  tools: readonly Tool[],
  incidentId: string,
): Promise<Cause | 'unknown'> {
  const offered = tools
    .filter(({ annotations }) => annotations.readOnlyHint)
    .map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description, parameters: inputSchema },
    }));
  const messages: Message[] = [
    { role: 'system', content: TASK },
    { role: 'user', content: `You are paged for ${incidentId}. What is the cause?` },
  ];
  for (let turn = 0; turn < CALLS_MAX * 2; turn += 1) {
    const mayCall = session.calls < CALLS_MAX;
    const said = await complete(model, messages, mayCall ? offered : []);
    messages.push(said);
    if (said.tool_calls === undefined || said.tool_calls.length === 0) return causeIn(said.content ?? '');
    for (const { id, function: asked } of said.tool_calls) {
      messages.push({ role: 'tool', tool_call_id: id, content: await call(session, asked) });
    }
  }
  return 'unknown';
}

async function call(session: ToolCaller, asked: { name: string; arguments: string }): Promise<string> {
  if (session.calls >= CALLS_MAX) return 'No calls are left. Name the cause.';
  try {
    return (await session.call(asked.name, JSON.parse(asked.arguments) as object)).text;
  } catch (error) {
    return error instanceof Error ? error.message : 'the call failed';
  }
}

async function complete({ url, name, key }: Model, messages: readonly Message[], tools: readonly object[]) {
  const response = await fetch(`${url.replace(/\/+$/, '')}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key !== undefined && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify({ model: name, messages, temperature: 0, ...(tools.length > 0 && { tools }) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`the model answered ${response.status}`);
  const { choices } = (await response.json()) as { choices: readonly { readonly message: Message }[] };
  const [first] = choices;
  if (first === undefined) throw new Error('the model answered nothing');
  return first.message;
}

/** The last cause that it names as asked. */
function causeIn(text: string): Cause | 'unknown' {
  const named = [...text.matchAll(/"cause"\s*:\s*"(\w+)"/g)].at(-1)?.[1];
  return CAUSES.find((cause) => cause === named) ?? 'unknown';
}
