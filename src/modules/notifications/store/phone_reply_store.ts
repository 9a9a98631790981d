import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { PostgresStore, rowsChanged } from '#storage/postgres/store.ts';

/** Subject of a number in a message, with the number that its organization has given it. */
interface Numbered {
  readonly incidentId: Id<'incident'>;
  /** Null for the incident itself. */
  readonly proposalId: Id<'proposal'> | null;
  readonly number: number;
}

/** Limit on tries to take a number: which process is first with a number of a phone decides who takes another. */
const TRIES_MAX = 5;

/** The numbers by which phones answer: each means one incident, and one proposal, however many organizations page it. */
export class ReplyNumberStore extends PostgresStore {
  /** The number of it for this phone, the same each time: its own, or the next free one where that means something else. */
  async assign(phone: string, { incidentId, proposalId, number: own }: Numbered): Promise<number> {
    const kind = proposalId === null ? 'incident' : 'proposal';
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const assigned = await this.#numberOf(phone, incidentId, proposalId);
      if (assigned !== null) return assigned;
      const number = await this.#freeFrom(phone, kind, own);
      const made = await this.insertInto('reply_numbers')
        .values({ phone, kind, number, incident_id: incidentId, proposal_id: proposalId })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      if (rowsChanged(made) > 0) return number;
    }
    return own;
  }

  /**
   * Returns what this number means to the phone: the incident, and the proposal about it; null when it was never sent
   * there.
   */
  async find(
    phone: string,
    kind: 'incident' | 'proposal',
    number: number,
  ): Promise<Pick<Numbered, 'incidentId' | 'proposalId'> | null> {
    const row = await this.selectFrom('reply_numbers')
      .select(['incident_id as incidentId', 'proposal_id as proposalId'])
      .where('phone', '=', phone)
      .where('kind', '=', kind)
      .where('number', '=', number)
      .executeTakeFirst();
    return row ?? null;
  }

  /** The first number from this one on that means nothing to the phone yet. */
  async #freeFrom(phone: string, kind: 'incident' | 'proposal', number: number): Promise<number> {
    if ((await this.find(phone, kind, number)) === null) return number;
    const last = await this.selectFrom('reply_numbers as r')
      .select(({ fn }) => fn.min('r.number').as('number'))
      .where('r.phone', '=', phone)
      .where('r.kind', '=', kind)
      .where('r.number', '>=', number)
      .where(({ eb, not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('reply_numbers as n')
              .select('n.number')
              .whereRef('n.phone', '=', 'r.phone')
              .whereRef('n.kind', '=', 'r.kind')
              .where((next) => next('n.number', '=', eb('r.number', '+', 1))),
          ),
        ),
      )
      .executeTakeFirst();
    return (last?.number ?? number) + 1;
  }

  async #numberOf(
    phone: string,
    incidentId: Id<'incident'>,
    proposalId: Id<'proposal'> | null,
  ): Promise<number | null> {
    const row = await this.selectFrom('reply_numbers')
      .select('number')
      .where('phone', '=', phone)
      .where('incident_id', '=', incidentId)
      .where('proposal_id', proposalId === null ? 'is' : '=', proposalId)
      .executeTakeFirst();
    return row?.number ?? null;
  }
}

/** Messages from people, each acted upon once. Kept for good: a replay bears no date that could be trusted. */
export class InboundMessageStore extends PostgresStore {
  /** True for the first who takes it. */
  async take(providerId: string, now: Temporal.Instant): Promise<boolean> {
    const taken = await this.insertInto('inbound_messages')
      .values({ provider_id: providerId, received_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return rowsChanged(taken) > 0;
  }

  /** Gives back one that could not be acted upon. */
  async release(providerId: string): Promise<void> {
    await this.deleteFrom('inbound_messages').where('provider_id', '=', providerId).execute();
  }

  async setAnswer(providerId: string, answer: string | null): Promise<void> {
    await this.updateTable('inbound_messages').set({ answer }).where('provider_id', '=', providerId).execute();
  }

  /** Returns the answer to the message; null for none, or none yet. */
  async findAnswer(providerId: string): Promise<string | null> {
    const message = await this.selectFrom('inbound_messages')
      .select('answer')
      .where('provider_id', '=', providerId)
      .executeTakeFirst();
    return message?.answer ?? null;
  }
}

/** Stores when each call ended, by the provider's id. A row is deleted with its message. */
export class EndedCallStore extends PostgresStore {
  /** The first report counts: one that is sent again moves nothing. */
  async note(providerId: string, notificationId: Id<'notification'>, endedAt: Temporal.Instant): Promise<void> {
    await this.insertInto('ended_calls')
      .values({ provider_id: providerId, notification_id: notificationId, ended_at: endedAt })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }

  /** Null while it lasts, as far as is known. */
  async findEnd(providerId: string): Promise<Temporal.Instant | null> {
    const call = await this.selectFrom('ended_calls')
      .select('ended_at')
      .where('provider_id', '=', providerId)
      .executeTakeFirst();
    return call?.ended_at ?? null;
  }
}
