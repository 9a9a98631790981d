import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A link by which somebody may set a new password, once. */
export interface OpenReset {
  readonly resetId: Id<'reset'>;
  readonly userId: Id<'user'>;
  readonly email: string;
  readonly name: string;
}

/** Links to set a new password, found by the hash of their token. */
export class PasswordResetStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async insert(
    userId: Id<'user'>,
    tokenHash: Buffer,
    times: { readonly now: Temporal.Instant; readonly expiresAt: Temporal.Instant },
  ): Promise<Id<'reset'>> {
    const id = newId('reset');
    await this.#session.sql.run(
      `insert into password_resets (id, user_id, token_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
      [id, userId, tokenHash, times.now.toString(), times.expiresAt.toString()],
    );
    return id;
  }

  async countSince(userId: Id<'user'>, since: Temporal.Instant): Promise<number> {
    const row = await this.#session.sql.row<{ count: number }>(
      'select count(*)::int as count from password_resets where user_id = $1 and created_at > $2',
      [userId, since.toString()],
    );
    return row?.count ?? 0;
  }

  /** Null when it is unknown, used or expired. */
  async findOpen(tokenHash: Buffer, now: Temporal.Instant): Promise<OpenReset | null> {
    return await this.#session.sql.row(
      `select r.id as "resetId", r.user_id as "userId", u.email, u.name
       from password_resets r join users u on u.id = r.user_id
       where r.token_hash = $1 and r.used_at is null and r.expires_at > $2`,
      [tokenHash, now.toString()],
    );
  }

  /** Uses it, and with it every other of the user. Of several at the same time one gets true. */
  async use({ resetId, userId }: OpenReset, now: Temporal.Instant): Promise<boolean> {
    const used = await this.#session.sql.run(
      'update password_resets set used_at = $2 where id = $1 and used_at is null and expires_at > $2',
      [resetId, now.toString()],
    );
    if (used === 0) return false;
    await this.closeAll(userId, now);
    return true;
  }

  async closeAll(userId: Id<'user'>, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('update password_resets set used_at = $2 where user_id = $1 and used_at is null', [
      userId,
      now.toString(),
    ]);
  }

  /** As if it had never been made. */
  async remove(resetId: Id<'reset'>): Promise<void> {
    await this.#session.sql.run('delete from password_resets where id = $1', [resetId]);
  }

  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('delete from password_resets where expires_at <= $1', [before.toString()]);
  }
}
