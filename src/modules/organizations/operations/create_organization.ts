import { recordChange } from '#actions/record_change.ts';
import type { UnitOfWork } from '#modules/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy } from '#modules/audit/store/audit_store.ts';

/** Creates an organization nobody belongs to yet; its audit log begins with this. */
export async function createOrganization(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  name: string,
  by: AuditedBy,
): Promise<Id<'org'>> {
  const { id: orgId } = await unit.stores.people.insertOrganization(name, unit.now);
  await recordChange(unit, orgId, by, { action: 'create_organization', target: orgId, before: null, after: { name } });
  return orgId;
}
