/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean };
}

export interface ToolCaller {
  readonly calls: number;
  /** The answer as a model gets it, and as a program does. */
  call(name: string, input: object): Promise<{ readonly text: string; readonly result: unknown }>;
}

/** About as many as a model counts, for text in JSON. */
const CHARACTERS_PER_TOKEN = 4;

/** MCP and nothing else, with what it costs: calls, and tokens of what is asked and answered. */
export class McpSession implements ToolCaller {
  readonly #url: string;
  readonly #key: string;
  calls = 0;
  characters = 0;

  constructor(baseUrl: string, key: string) {
    this.#url = `${baseUrl}/api/mcp`;
    this.#key = key;
  }

  get tokens(): number {
    return Math.ceil(this.characters / CHARACTERS_PER_TOKEN);
  }

  async listTools(): Promise<Tool[]> {
    const { result, error } = await this.#send('tools/list', {});
    if (error !== undefined) throw new Error(`tools/list: ${error.message}`);
    return (result as { tools: Tool[] }).tools;
  }

  /** Everything in the answer counts. An unknown tool is answered with the sentence that it is refused with. */
  async call(name: string, input: object): Promise<{ readonly text: string; readonly result: unknown }> {
    this.calls += 1;
    const { result, error } = await this.#send('tools/call', { name, arguments: input });
    this.characters += JSON.stringify(input).length + JSON.stringify(result ?? error).length;
    if (error !== undefined) return { text: error.message, result: undefined };
    const answer = result as { content: { type: string; text?: string }[]; structuredContent?: { result: unknown } };
    const text = answer.content.map((part) => part.text ?? '').join('\n');
    return { text, result: answer.structuredContent?.result ?? readJson(answer.content[0]?.text ?? '') };
  }

  async #send(method: string, params: object): Promise<{ result?: unknown; error?: { message: string } }> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return (await response.json()) as { result?: unknown; error?: { message: string } };
  }
}

/** A refusal is no JSON: the script sees nothing then, and goes on. */
function readJson(text: string): unknown {
  try {
    return (JSON.parse(text) as { result?: unknown }).result;
  } catch {
    return undefined;
  }
}
