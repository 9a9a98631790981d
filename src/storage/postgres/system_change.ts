import type { AuditEntry } from '#storage/postgres/audit_store.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';

/** A change that no person asked for. */
interface SystemChange extends Pick<AuditEntry, 'orgId' | 'action' | 'before' | 'after'> {
  readonly via: 'rule' | 'system';
  /** The id of what was changed. */
  readonly target: string;
}

/** Writes the audit row of a change that the product makes by itself, in the transaction of the change. */
export async function recordSystemChange({ stores, now }: UnitOfWork, change: SystemChange): Promise<void> {
  const origin = { requestId: change.target, address: null };
  await stores.audit.append({ ...change, actor: { kind: 'system' }, result: 'done', origin }, now);
}
