import { asId, type Id, newId } from '#kernel/ids.ts';
import { notFound } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ChatPlace } from '#modules/places/decide/place_kinds.ts';
import { columns, json, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { ChatAccountEntity } from '#storage/postgres/entities/places.ts';

export type ChatAccountRow = Row<typeof ChatAccountEntity>;

export interface ChatIdentity {
  readonly orgId: Id<'org'>;
  readonly kind: ChatPlace;
  readonly account: string;
}

/** Chat accounts that people have linked, and the codes by which they do. */
export class ChatAccountStore extends PostgresStore {
  /** The linked accounts of a person in an organization. */
  async list(orgId: Id<'org'>, userId: Id<'user'>): Promise<ChatAccountRow[]> {
    return await this.#accounts()
      .where('a.org_id', '=', orgId)
      .where('a.user_id', '=', userId)
      .where('a.account', 'is not', null)
      .orderBy('a.kind')
      .execute();
  }

  /** Makes a code by which an account is linked; an earlier one of the person for this kind of place ends. */
  async insertCode(
    code: Pick<ChatAccountRow, 'orgId' | 'userId' | 'kind' | 'codeHash' | 'codeExpiresAt'>,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.deleteFrom('chat_accounts')
      .where('org_id', '=', code.orgId)
      .where('user_id', '=', code.userId)
      .where('kind', '=', code.kind)
      .where('account', 'is', null)
      .execute();
    const row = { id: newId('chataccount'), ...code, account: null, name: null, presses: [], createdAt: now };
    await this.insertInto('chat_accounts')
      .values(toColumns(ChatAccountEntity, { ...row, linkedAt: null }))
      .execute();
  }

  /** Finds who has this code, locked until the transaction ends; null when it is wrong or too old. */
  async lockCode(
    { orgId, kind, codeHash }: { orgId: Id<'org'>; kind: ChatPlace; codeHash: Buffer },
    now: Temporal.Instant,
  ): Promise<ChatAccountRow | null> {
    const code = await this.#accounts()
      .where('a.code_hash', '=', codeHash)
      .where('a.org_id', '=', orgId)
      .where('a.kind', '=', kind)
      .where('a.code_expires_at', '>', now)
      .forUpdate()
      .executeTakeFirst();
    return code ?? null;
  }

  /** Links the account to the person of the code, which is used up; whoever had it linked before has it no more. */
  async link(code: ChatAccountRow, account: string, name: string, now: Temporal.Instant): Promise<void> {
    const { db } = this;
    await db
      .deleteFrom('chat_accounts')
      .where('org_id', '=', code.orgId)
      .where('kind', '=', code.kind)
      .where('account', '=', account)
      .execute();
    await db
      .updateTable('chat_accounts')
      .set({ account, name, code_hash: null, code_expires_at: null, linked_at: now })
      .where('id', '=', code.id)
      .execute();
  }

  async find({ orgId, kind, account }: ChatIdentity): Promise<ChatAccountRow | null> {
    return (await this.#linked({ orgId, kind, account }).executeTakeFirst()) ?? null;
  }

  /** Finds it and locks it until the transaction ends: two presses are counted one after the other. */
  async lock(identity: ChatIdentity): Promise<ChatAccountRow | null> {
    return (await this.#linked(identity).forUpdate().executeTakeFirst()) ?? null;
  }

  async savePresses(id: Id<'chataccount'>, presses: readonly string[]): Promise<void> {
    await this.updateTable('chat_accounts')
      .set({ presses: json(presses) })
      .where('id', '=', id)
      .execute();
  }

  /** Removes a linked account of a person. Throws `not_found`. */
  async remove(orgId: Id<'org'>, userId: Id<'user'>, chatAccountId: string): Promise<ChatAccountRow> {
    const id = asId('chataccount', chatAccountId);
    const account = await this.#accounts()
      .where('a.id', '=', id)
      .where('a.org_id', '=', orgId)
      .where('a.user_id', '=', userId)
      .where('a.account', 'is not', null)
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('chatAccountId', 'linked chat account'));
    await this.deleteFrom('chat_accounts').where('id', '=', id).execute();
    return account;
  }

  /** Removes codes that nobody typed in time. */
  async removeExpired(now: Temporal.Instant): Promise<void> {
    await this.deleteFrom('chat_accounts').where('code_expires_at', '<', now).execute();
  }

  #accounts() {
    return this.selectFrom('chat_accounts as a').select(columns(ChatAccountEntity, 'a'));
  }

  #linked({ orgId, kind, account }: ChatIdentity) {
    return this.#accounts().where('a.org_id', '=', orgId).where('a.kind', '=', kind).where('a.account', '=', account);
  }
}
