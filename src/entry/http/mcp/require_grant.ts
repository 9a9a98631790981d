import { findAction } from '#actions/registry.ts';
import { type ActionRuntime, requirePermission } from '#actions/run_action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';

/**
 * Throws `insufficient_scope` for a call that the role of the person allows but the connection was not granted. Clients
 * learn from the HTTP status that they can ask for more, so this is checked before the protocol answers.
 */
export async function requireGrant(
  runtime: ActionRuntime,
  caller: Caller,
  body: unknown,
  origin: RequestOrigin,
): Promise<void> {
  for (const message of Array.isArray(body) ? body : [body]) {
    const action = findAction(calledTool(message));
    if (action !== undefined && caller.withheld?.has(action.permission) === true) {
      await requirePermission(runtime, action, caller, origin);
    }
  }
}

function calledTool(message: unknown): unknown {
  const { method, params } = (message ?? {}) as { readonly method?: unknown; readonly params?: unknown };
  return method === 'tools/call' ? ((params ?? {}) as { readonly name?: unknown }).name : undefined;
}
