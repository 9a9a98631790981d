import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { PERMISSIONS, ROLE_CONSOLE_PERMISSIONS } from '#kernel/permissions.ts';

/** Returns a person who may run commands on this installation. In every organization they may do what an owner may. */
export function operatorIn(orgId: Id<'org'>): Caller {
  const permissions = new Set([...PERMISSIONS, ...ROLE_CONSOLE_PERMISSIONS.owner]);
  return { orgId, actor: { kind: 'system' }, via: 'cli', mustStepUp: false, permissions };
}
