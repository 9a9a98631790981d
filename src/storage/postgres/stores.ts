import { ApiKeyEntity, ApiKeyStore } from '#storage/postgres/api_key_store.ts';
import { AuditStore } from '#storage/postgres/audit_store.ts';
import { CapabilityStore } from '#storage/postgres/capability_store.ts';
import type { Session } from '#storage/postgres/database.ts';
import { IngestKeyStore } from '#storage/postgres/ingest_key_store.ts';
import { OutboxStore } from '#storage/postgres/outbox_store.ts';
import { MembershipEntity, OrganizationEntity, PeopleStore, UserEntity } from '#storage/postgres/people_store.ts';
import { ServiceEntity, ServiceStore } from '#storage/postgres/service_store.ts';

/** Every entity, for the unit of work. */
export const ENTITIES = [OrganizationEntity, UserEntity, MembershipEntity, ApiKeyEntity, ServiceEntity];

/** The stores over one session: what they change commits or vanishes together. */
export interface Stores {
  readonly people: PeopleStore;
  readonly apiKeys: ApiKeyStore;
  readonly services: ServiceStore;
  readonly capabilities: CapabilityStore;
  readonly ingestKeys: IngestKeyStore;
  readonly outbox: OutboxStore;
  readonly audit: AuditStore;
}

export function storesOf(session: Session): Stores {
  return {
    people: new PeopleStore(session),
    apiKeys: new ApiKeyStore(session),
    services: new ServiceStore(session),
    capabilities: new CapabilityStore(session),
    ingestKeys: new IngestKeyStore(session),
    outbox: new OutboxStore(session),
    audit: new AuditStore(session),
  };
}
