/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean };
}

/** Calls tools, and counts how often. */
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
    return ((await this.#send('tools/list', {})) as { tools: Tool[] }).tools;
  }

  /** Everything in the answer counts. */
  async call(name: string, input: object): Promise<{ readonly text: string; readonly result: unknown }> {
    this.calls += 1;
    const answer = (await this.#send('tools/call', { name, arguments: input })) as {
      content: { type: string; text?: string }[];
      structuredContent?: { result: unknown };
    };
    this.characters += JSON.stringify(input).length + JSON.stringify(answer).length;
    const text = answer.content.map((part) => part.text ?? '').join('\n');
    return { text, result: answer.structuredContent?.result ?? readJson(answer.content[0]?.text ?? '') };
  }

  async #send(method: string, params: object): Promise<unknown> {
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
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
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
