import type { AuditEntry } from '#modules/audit/store/audit_store.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** A change that no person asked for. */
interface SystemChange extends Pick<AuditEntry, 'orgId' | 'action' | 'before' | 'after'> {
  readonly via: 'rule' | 'alert' | 'system';
  readonly target: string;
}

/** Writes the audit row of a change that the product makes by itself, in the transaction of the change. */
export async function recordSystemChange(unit: UnitOfWork, change: SystemChange): Promise<void> {
  await recordSystemChanges(unit, [change]);
}

/** Records many changes as `recordSystemChange` does one. */
export async function recordSystemChanges(
  { stores, now }: UnitOfWork,
  changes: readonly SystemChange[],
): Promise<void> {
  const entries = changes.map((change): AuditEntry => {
    return {
      ...change,
      actor: { kind: 'system' },
      result: 'done',
      origin: { requestId: change.target, address: null },
    };
  });
  await stores.audit.appendAll(entries, now);
}
