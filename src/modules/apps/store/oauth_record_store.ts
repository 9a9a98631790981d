import { asId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, field, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { OAuthRecordEntity } from '#storage/postgres/entities/credentials.ts';

/** Record of the authorization server: a token, a code, a request under way, a registered client. */
export type OAuthRecord = Omit<Row<typeof OAuthRecordEntity>, 'consumedAt'>;

export type FoundRecord = Pick<Row<typeof OAuthRecordEntity>, 'payload' | 'consumedAt'>;

/** Records of the authorization server, by kind and hash. */
export class OAuthRecordStore extends PostgresStore {
  /** Adds the record or replaces what it holds; one that was consumed stays so. */
  async put(record: OAuthRecord): Promise<void> {
    await this.insertInto('oauth_records')
      .values(toColumns(OAuthRecordEntity, record))
      .onConflict((conflict) =>
        conflict
          .columns(['kind', 'hash'])
          .doUpdateSet((eb) => ({ payload: eb.ref('excluded.payload'), expires_at: eb.ref('excluded.expires_at') })),
      )
      .execute();
  }

  /** null when unknown or expired; a client does not expire while there is a connection of it. */
  async find(kind: string, hash: Buffer, now: Temporal.Instant): Promise<FoundRecord | null> {
    const row = await this.selectFrom('oauth_records as r')
      .select(columns(OAuthRecordEntity, 'r', ['payload', 'consumedAt']))
      .where('r.kind', '=', kind)
      .where('r.hash', '=', hash)
      .where(({ eb, or, and, exists, selectFrom, ref }) => {
        const connections = selectFrom('connections as c')
          .select('c.id')
          .where('c.client_id', '=', field(ref('r.payload'), 'client_id'));
        return or([eb('r.expires_at', '>', now), and([eb('r.kind', '=', 'Client'), exists(connections)])]);
      })
      .executeTakeFirst();
    return row ?? null;
  }

  /** True for exactly one of those who ask, however many do at once. */
  async consume(kind: string, hash: Buffer, now: Temporal.Instant): Promise<boolean> {
    const consumed = await this.updateTable('oauth_records')
      .set({ consumed_at: now })
      .where('kind', '=', kind)
      .where('hash', '=', hash)
      .where('consumed_at', 'is', null)
      .execute();
    return rowsChanged(consumed) > 0;
  }

  async keepUntil(kind: string, hash: Buffer, expiresAt: Temporal.Instant): Promise<void> {
    await this.updateTable('oauth_records')
      .set({ expires_at: expiresAt })
      .where('kind', '=', kind)
      .where('hash', '=', hash)
      .where('expires_at', '<', expiresAt)
      .execute();
  }

  async remove(kind: string, hash: Buffer): Promise<void> {
    await this.deleteFrom('oauth_records').where('kind', '=', kind).where('hash', '=', hash).execute();
  }

  async removeOfConnection(kind: string, connectionId: string): Promise<void> {
    await this.deleteFrom('oauth_records')
      .where('kind', '=', kind)
      .where('connection_id', '=', asId('connection', connectionId))
      .execute();
  }

  /** Removes what has expired, at most so many; a client stays as long as a connection of it does. */
  async removeExpired(now: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('oauth_records')
      .where(({ eb, refTuple, selectFrom }) =>
        eb(
          refTuple('kind', 'hash'),
          'in',
          selectFrom('oauth_records as r')
            .select(['r.kind', 'r.hash'])
            .where('r.expires_at', '<=', now)
            .where(({ eb, and, not, exists, selectFrom, ref }) => {
              const connections = selectFrom('connections as c')
                .select('c.id')
                .where('c.client_id', '=', field(ref('r.payload'), 'client_id'));
              return not(and([eb('r.kind', '=', 'Client'), exists(connections)]));
            })
            .limit(limit)
            .$asTuple('kind', 'hash'),
        ),
      )
      .execute();
    return rowsChanged(removed);
  }
}
