import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { Id } from '#kernel/ids.ts';
import type { AuditedBy } from '#storage/postgres/audit_store.ts';

/** An organization nobody belongs to yet; its audit log begins with this. */
export async function createOrganization(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  name: string,
  by: AuditedBy,
): Promise<Id<'org'>> {
  const { id: orgId } = await stores.people.insertOrganization(name, now);
  const change = { action: 'create_organization', target: orgId, before: null, after: { name } };
  await stores.audit.append({ orgId, ...by, ...change, result: 'done' }, now);
  return orgId;
}
