import type { Change } from '#actions/action_context.ts';
import type { UnitOfWork } from '#actions/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';

/** What the product changes on its own is in the audit log as well, in the transaction of the change (decisions §6). */
export async function recordSystemChange(
  { stores, now }: UnitOfWork,
  made: Change & { readonly orgId: Id<'org'>; readonly action: string; readonly via: 'rule' | 'system' },
): Promise<void> {
  const origin = { requestId: made.target, address: null };
  await stores.audit.append({ ...made, actor: { kind: 'system' }, result: 'done', origin }, now);
}
