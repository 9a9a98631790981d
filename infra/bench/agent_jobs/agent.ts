import { McpSession } from '#infra/bench/night_shift/mcp_session.ts';

/**
 * An agent without a model. It says what it means in the words of its task (names where ids are wanted, `ack_incident`),
 * goes on with the call that a refusal spells out, and looks ids up where it does not.
 */
export class Agent {
  readonly session: McpSession;
  wrong = 0;

  constructor(baseUrl: string, key: string) {
    this.session = new McpSession(baseUrl, key);
  }

  /** Returns the answer to the call, or to the call that its refusal proposes; null if it proposes none. */
  async ask<Result>(name: string, input: object): Promise<Result | null> {
    const { text, result } = await this.session.call(name, input);
    if (result !== undefined) return result as Result;
    this.wrong += 1;
    const [, tool, json] = /Call instead: (\w+) (.*)$/m.exec(text) ?? [];
    if (tool === undefined || json === undefined) return null;
    const again = await this.session.call(tool, JSON.parse(json) as object);
    if (again.result === undefined) this.wrong += 1;
    return (again.result as Result | undefined) ?? null;
  }

  /** Does the same as `ask`, and throws if there is no answer. */
  async must<Result>(name: string, input: object): Promise<Result> {
    const result = await this.ask<Result>(name, input);
    if (result === null) throw new NotPossible(`${name} was refused`);
    return result;
  }
}

/** The job cannot be done with what the tools tell. */
export class NotPossible extends Error {}
