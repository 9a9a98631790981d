import type { Id } from '#kernel/ids.ts';
import type { Session } from '#storage/postgres/database.ts';

/** One link of the chain, and the row that it holds: each column as text, in the order in which they are hashed. */
export interface AuditLink {
  readonly number: number;
  readonly auditId: string;
  readonly hash: Buffer;
  /** null when the row is gone. */
  readonly columns: readonly (string | null)[] | null;
}

/** The last link of a chain as it was when it was added. */
export interface AuditHead {
  readonly number: number;
  readonly hash: Buffer;
}

/** Reads the chain of the audit log of one organization. */
export class AuditChainReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** null before the first row. */
  async findHead(orgId: Id<'org'>): Promise<AuditHead | null> {
    return await this.#session.sql.row('select number, hash from audit_heads where org_id = $1', [orgId]);
  }

  /** Those behind `after`, in the order of the chain. */
  async list(orgId: Id<'org'>, after: number, upTo: number, limit: number): Promise<AuditLink[]> {
    return await this.#session.sql.rows(
      `select l.number, l.audit_id as "auditId", l.hash, case when a.id is not null then array[
         a.id, a.org_id, (extract(epoch from a.at) * 1000)::bigint::text, a.actor::text, a.via, a.action, a.target,
         a.before::text, a.after::text, a.result, a.address, a.request_id] end as columns
       from audit_links l left join audit_log a on a.id = l.audit_id
       where l.org_id = $1 and l.number > $2 and l.number <= $3 order by l.number limit $4`,
      [orgId, after, upTo, limit],
    );
  }

  /** The oldest row that no link holds. */
  async findUnlinked(orgId: Id<'org'>): Promise<string | null> {
    const row = await this.#session.sql.row<{ id: string }>(
      `select a.id from audit_log a where a.org_id = $1
         and not exists (select 1 from audit_links l where l.audit_id = a.id) order by a.at, a.id limit 1`,
      [orgId],
    );
    return row?.id ?? null;
  }
}
