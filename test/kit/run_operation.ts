import type { AnyOperation } from '#actions/action_context.ts';
import { runAction } from '#actions/run_action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { type Role, ROLE_CONSOLE_PERMISSIONS, ROLE_PERMISSIONS } from '#kernel/permissions.ts';
import type { World } from '#test/kit/world.ts';

/** Somebody signed in in the console. */
export function memberCaller(orgId: Id<'org'>, userId: Id<'user'>, role: Role): Caller {
  return {
    orgId,
    actor: { kind: 'user', userId, apiKeyId: null },
    via: 'console',
    mustStepUp: false,
    permissions: new Set([...ROLE_PERMISSIONS[role], ...ROLE_CONSOLE_PERMISSIONS[role]]),
  };
}

/** Runs an operation through the pipeline, without HTTP. */
// eslint-disable-next-line typescript/no-explicit-any -- a test says by what it reads what the result is
export async function runOperation(w: World, operation: AnyOperation, caller: Caller, input: object): Promise<any> {
  return await runAction(w.context.actions, operation, caller, input, { requestId: 'req_test', address: null });
}
