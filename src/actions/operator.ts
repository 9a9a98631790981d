import type { Caller } from '#kernel/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { PERMISSIONS } from '#kernel/permissions.ts';

/** Whoever may run commands on this installation. In every organization they may do what an owner may. */
export interface Operator extends Caller {
  readonly actor: { readonly kind: 'system' };
  readonly via: 'cli';
  readonly role: 'owner';
}

export function operatorIn(orgId: Id<'org'>): Operator {
  return { orgId, actor: { kind: 'system' }, via: 'cli', role: 'owner', permissions: new Set(PERMISSIONS) };
}
