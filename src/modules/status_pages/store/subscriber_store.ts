import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, holdLocks, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { StatusSubscriberEntity } from '#storage/postgres/entities/status_pages.ts';

export type SubscriberRow = Row<typeof StatusSubscriberEntity>;

/** Mail addresses that are told of updates on status pages. */
export class SubscriberStore extends PostgresStore {
  async find(subscriberId: string): Promise<SubscriberRow | null> {
    const id = asId('statussubscriber', subscriberId);
    return (await this.#subscribers().where('b.id', '=', id).executeTakeFirst()) ?? null;
  }

  async findByAddress(pageId: Id<'statuspage'>, email: string): Promise<SubscriberRow | null> {
    const subscriber = await this.#subscribers()
      .where('b.page_id', '=', pageId)
      .where('b.email', '=', email)
      .executeTakeFirst();
    return subscriber ?? null;
  }

  /** Counts the subscribers of each page of an organization who have confirmed. */
  async countConfirmed(orgId: Id<'org'>): Promise<Map<string, number>> {
    const counts = await this.selectFrom('status_subscribers')
      .select(({ fn }) => ['page_id as pageId', fn.countAll<number>().as('count')])
      .where('org_id', '=', orgId)
      .where('confirmed_at', 'is not', null)
      .groupBy('page_id')
      .execute();
    return new Map(counts.map(({ pageId, count }) => [pageId, count]));
  }

  /** Lets one at a time ask for this address, and one for this page, so that all of them are counted. */
  async hold(pageId: Id<'statuspage'>, email: string): Promise<void> {
    await holdLocks(this.session, [`subscribers of ${pageId}`, `subscriptions of ${email}`]);
  }

  /** Counts the subscribers of a page, and the pages that wait for this address to confirm. */
  async countFor(
    pageId: Id<'statuspage'>,
    email: string,
  ): Promise<{ confirmed: number; waiting: number; waitingOfAddress: number }> {
    const { db } = this;
    const counts = await db
      .selectFrom('status_subscribers')
      .select(({ fn }) => [fn.count<number>('confirmed_at').as('confirmed'), fn.countAll<number>().as('total')])
      .where('page_id', '=', pageId)
      .executeTakeFirstOrThrow();
    const ofAddress = await db
      .selectFrom('status_subscribers')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('email', '=', email)
      .where('confirmed_at', 'is', null)
      .executeTakeFirstOrThrow();
    const { confirmed, total } = counts;
    return { confirmed, waiting: total - confirmed, waitingOfAddress: ofAddress.count };
  }

  /** Stores who asked, or that they asked again. */
  async ask(
    asked: Pick<SubscriberRow, 'orgId' | 'pageId' | 'email'>,
    now: Temporal.Instant,
  ): Promise<Id<'statussubscriber'>> {
    const row = { id: newId('statussubscriber'), ...asked, askedAt: now, confirmedAt: null };
    const { id } = await this.insertInto('status_subscribers')
      .values(toColumns(StatusSubscriberEntity, row))
      .onConflict((conflict) => conflict.columns(['page_id', 'email']).doUpdateSet({ asked_at: now }))
      .returning('id')
      .executeTakeFirstOrThrow();
    return id;
  }

  async confirm(id: Id<'statussubscriber'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('status_subscribers')
      .set({ confirmed_at: now })
      .where('id', '=', id)
      .where('confirmed_at', 'is', null)
      .execute();
  }

  async remove(id: Id<'statussubscriber'>): Promise<void> {
    await this.deleteFrom('status_subscribers').where('id', '=', id).execute();
  }

  /** Lists who has confirmed, at most `limit` after an id. */
  async listConfirmed(pageId: Id<'statuspage'>, after: string, limit: number): Promise<Id<'statussubscriber'>[]> {
    const rows = await this.selectFrom('status_subscribers')
      .select('id')
      .where('page_id', '=', pageId)
      .where('confirmed_at', 'is not', null)
      .where('id', '>', asId('statussubscriber', after))
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Removes who asked before a time and never confirmed. */
  async removeUnconfirmed(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('status_subscribers')
      .where('confirmed_at', 'is', null)
      .where('asked_at', '<', before)
      .execute();
  }

  #subscribers() {
    return this.selectFrom('status_subscribers as b').select(columns(StatusSubscriberEntity, 'b'));
  }
}
