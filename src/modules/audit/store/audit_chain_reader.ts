import { sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import { columns, type Row } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { type AuditHeadEntity, AuditLinkEntity } from '#storage/postgres/entities/audit.ts';

/** One link of the chain, and the row that it holds. */
export type AuditLink = Omit<Row<typeof AuditLinkEntity>, 'orgId'> & {
  /** Null when the row is gone. */
  readonly columns: readonly (string | null)[] | null;
};

/** The last link of a chain as it was when it was added. */
export type AuditHead = Omit<Row<typeof AuditHeadEntity>, 'orgId'>;

/** Reads the chain of the audit log of one organization. */
export class AuditChainReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Returns the head of the chain; null before the first row. */
  async findHead(orgId: Id<'org'>): Promise<AuditHead | null> {
    const head = await this.#session.db
      .selectFrom('audit_heads')
      .select(['number', 'hash'])
      .where('org_id', '=', orgId)
      .executeTakeFirst();
    return head ?? null;
  }

  /** Lists links after `after`, in the order of the chain. */
  async list(orgId: Id<'org'>, after: number, upTo: number, limit: number): Promise<AuditLink[]> {
    return await this.#session.db
      .selectFrom('audit_links as l')
      .leftJoin('audit_log as a', 'a.id', 'l.audit_id')
      .select(columns(AuditLinkEntity, 'l', ['number', 'auditId', 'hash']))
      .select((eb) => {
        // In the order in which they are hashed, each as the text that the trigger hashes.
        const hashed = sql.join([
          eb.ref('a.id'),
          eb.ref('a.org_id'),
          sql`(extract(epoch from ${eb.ref('a.at')}) * 1000)::bigint::text`,
          eb.cast('a.actor', 'text'),
          eb.ref('a.via'),
          eb.ref('a.action'),
          eb.ref('a.target'),
          eb.cast('a.before', 'text'),
          eb.cast('a.after', 'text'),
          eb.ref('a.result'),
          eb.ref('a.address'),
          eb.ref('a.request_id'),
        ]);
        return eb
          .case()
          .when('a.id', 'is not', null)
          .then(sql<(string | null)[]>`array[${hashed}]`)
          .end()
          .as('columns');
      })
      .where('l.org_id', '=', orgId)
      .where('l.number', '>', after)
      .where('l.number', '<=', upTo)
      .orderBy('l.number')
      .limit(limit)
      .execute();
  }

  /** The oldest row that no link holds. */
  async findUnlinked(orgId: Id<'org'>): Promise<string | null> {
    const row = await this.#session.db
      .selectFrom('audit_log as a')
      .select('a.id')
      .where('a.org_id', '=', orgId)
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('audit_links as l').select('l.number').whereRef('l.audit_id', '=', 'a.id'))),
      )
      .orderBy('a.at')
      .orderBy('a.id')
      .limit(1)
      .executeTakeFirst();
    return row?.id ?? null;
  }
}
