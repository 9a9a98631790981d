import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { OpenIdAccountEntity, OpenIdConnectionEntity, OpenIdDomainEntity } from '#storage/postgres/entities/sign_in.ts';
import { OrganizationEntity } from '#storage/postgres/entities/people.ts';
import type { MailDomains } from '#modules/sign_in/decide/claims.ts';

export type OpenIdConnectionRow = Row<typeof OpenIdConnectionEntity>;
export type OpenIdDomainRow = Row<typeof OpenIdDomainEntity>;

export interface ProviderSubject {
  readonly issuer: string;
  readonly subject: string;
}

/** Networks from which an organization admits keys and people; null for everywhere. */
export interface AdmittedNetworks {
  readonly keyNetworks: readonly string[] | null;
  readonly sessionNetworks: readonly string[] | null;
}

/** Providers of organizations, their mail domains, and the accounts that were signed in to through them. */
export class OpenIdStore extends PostgresStore {
  async findConnection(orgId: Id<'org'>): Promise<OpenIdConnectionRow | null> {
    const connection = await this.selectFrom('openid_connections as c')
      .select(columns(OpenIdConnectionEntity, 'c'))
      .where('c.org_id', '=', orgId)
      .executeTakeFirst();
    return connection ?? null;
  }

  /** Adds the connection of an organization, or replaces it. */
  async saveConnection(connection: OpenIdConnectionRow): Promise<void> {
    const row = toColumns(OpenIdConnectionEntity, connection);
    await this.insertInto('openid_connections')
      .values(row)
      .onConflict((conflict) => conflict.column('org_id').doUpdateSet(row))
      .execute();
  }

  /** Returns false when there was none. */
  async removeConnection(orgId: Id<'org'>): Promise<boolean> {
    const removed = await this.deleteFrom('openid_connections').where('org_id', '=', orgId).execute();
    return rowsChanged(removed) > 0;
  }

  async noteFault(orgId: Id<'org'>, fault: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('openid_connections')
      .set({ last_fault: fault, last_fault_at: now })
      .where('org_id', '=', orgId)
      .execute();
  }

  async listDomains(orgId: Id<'org'>): Promise<OpenIdDomainRow[]> {
    return await this.selectFrom('openid_domains as d')
      .select(columns(OpenIdDomainEntity, 'd'))
      .where('d.org_id', '=', orgId)
      .orderBy('d.domain')
      .execute();
  }

  async listProvenDomains(orgId: Id<'org'>): Promise<MailDomains> {
    const domains = await this.listDomains(orgId);
    return new Set(domains.filter(({ provenAt }) => provenAt !== null).map(({ domain }) => domain));
  }

  /** Returns the organization that has proven the domain; null for none. */
  async findOwnerOfDomain(domain: string): Promise<Id<'org'> | null> {
    const proven = await this.selectFrom('openid_domains')
      .select('org_id')
      .where('domain', '=', domain)
      .where('proven_at', 'is not', null)
      .executeTakeFirst();
    return proven?.org_id ?? null;
  }

  /** Adds the domain, or replaces it. Throws a unique violation where another organization has proven it. */
  async saveDomain(domain: OpenIdDomainRow): Promise<void> {
    const row = toColumns(OpenIdDomainEntity, domain);
    await this.insertInto('openid_domains')
      .values(row)
      .onConflict((conflict) => conflict.columns(['org_id', 'domain']).doUpdateSet(row))
      .execute();
  }

  async removeDomain(orgId: Id<'org'>, domain: string): Promise<boolean> {
    const removed = await this.deleteFrom('openid_domains')
      .where('org_id', '=', orgId)
      .where('domain', '=', domain)
      .execute();
    return rowsChanged(removed) > 0;
  }

  /** Returns the account that this subject signs in to, with its present role; null for none. */
  async findLinked(
    orgId: Id<'org'>,
    { issuer, subject }: ProviderSubject,
  ): Promise<{ userId: Id<'user'>; role: Role | null } | null> {
    const linked = await this.selectFrom('openid_accounts as a')
      .leftJoin('memberships as m', (join) =>
        join.onRef('m.org_id', '=', 'a.org_id').onRef('m.user_id', '=', 'a.user_id'),
      )
      .select(['a.user_id as userId', 'm.role'])
      .where('a.org_id', '=', orgId)
      .where('a.issuer', '=', issuer)
      .where('a.subject', '=', subject)
      .executeTakeFirst();
    return linked ?? null;
  }

  /** Whether a subject of this issuer signs in to the account. */
  async hasSubject(orgId: Id<'org'>, userId: Id<'user'>, issuer: string): Promise<boolean> {
    const subject = await this.selectFrom('openid_accounts')
      .select('subject')
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .where('issuer', '=', issuer)
      .limit(1)
      .executeTakeFirst();
    return subject !== undefined;
  }

  /** Links the subject to the account in place of another subject of the same issuer, or notes that it signed in. */
  async link(orgId: Id<'org'>, userId: Id<'user'>, of: ProviderSubject, now: Temporal.Instant): Promise<void> {
    await this.deleteFrom('openid_accounts')
      .where('org_id', '=', orgId)
      .where('user_id', '=', userId)
      .where('issuer', '=', of.issuer)
      .where('subject', '<>', of.subject)
      .execute();
    const row = toColumns(OpenIdAccountEntity, { orgId, userId, ...of, createdAt: now, lastUsedAt: now });
    await this.insertInto('openid_accounts')
      .values(row)
      .onConflict((conflict) => conflict.columns(['org_id', 'issuer', 'subject']).doUpdateSet({ last_used_at: now }))
      .execute();
  }

  /** Number of accounts that were signed in to through this issuer. */
  async countFollowers(orgId: Id<'org'>, issuer: string): Promise<number> {
    const { count } = await this.selectFrom('openid_accounts')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('org_id', '=', orgId)
      .where('issuer', '=', issuer)
      .executeTakeFirstOrThrow();
    return count;
  }

  async setNetworks(orgId: Id<'org'>, networks: AdmittedNetworks): Promise<void> {
    await this.updateTable('organizations')
      .set(toColumns(OrganizationEntity, { ...networks }))
      .where('id', '=', orgId)
      .execute();
  }

  async findNetworks(orgId: Id<'org'>): Promise<AdmittedNetworks> {
    return await this.selectFrom('organizations')
      .select(['key_networks as keyNetworks', 'session_networks as sessionNetworks'])
      .where('id', '=', orgId)
      .executeTakeFirstOrThrow();
  }
}
