import type { RequestId } from '@modelcontextprotocol/server';

import { invalidInput } from '#kernel/errors.ts';

/** Messages without the arguments of tools, and those arguments by the id of each request. */
interface ExtractedInputs {
  readonly body: unknown;
  readonly inputs: ReadonlyMap<RequestId, unknown>;
}

/**
 * Extracts the arguments of tools from a message or a batch, so that they reach their action exactly as they were sent:
 * the SDK would refuse a non-object with its own message, and drop a property named `__proto__`.
 */
export function extractToolInputs(body: unknown): ExtractedInputs {
  const inputs = new Map<RequestId, unknown>();
  const take = (message: unknown): unknown => {
    if (!isToolCall(message)) return message;
    const { id, params } = message;
    if (inputs.has(id)) throw invalidInput([{ path: 'id', message: 'two requests of one batch have the same id' }]);
    const { arguments: input = {}, ...others } = params;
    inputs.set(id, input);
    return { ...message, params: others };
  };
  return { body: Array.isArray(body) ? body.map(take) : take(body), inputs };
}

interface ToolCall {
  readonly id: RequestId;
  readonly params: { readonly arguments?: unknown };
}

function isToolCall(message: unknown): message is ToolCall {
  if (!isObject(message) || message['method'] !== 'tools/call') return false;
  return isObject(message['params']) && (typeof message['id'] === 'string' || typeof message['id'] === 'number');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
