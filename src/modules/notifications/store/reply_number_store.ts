import type { Id } from '#kernel/ids.ts';
import { rowsChanged } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';

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
export class ReplyNumberStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The number of it for this phone, the same each time: its own, or the next free one where that means something else. */
  async assign(phone: string, { incidentId, proposalId, number: own }: Numbered): Promise<number> {
    const kind = proposalId === null ? 'incident' : 'proposal';
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const assigned = await this.#numberOf(phone, incidentId, proposalId);
      if (assigned !== null) return assigned;
      const number = await this.#freeFrom(phone, kind, own);
      const made = await this.#session.db
        .insertInto('reply_numbers')
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
    const row = await this.#session.db
      .selectFrom('reply_numbers')
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
    const last = await this.#session.db
      .selectFrom('reply_numbers as r')
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
    const row = await this.#session.db
      .selectFrom('reply_numbers')
      .select('number')
      .where('phone', '=', phone)
      .where('incident_id', '=', incidentId)
      .where('proposal_id', proposalId === null ? 'is' : '=', proposalId)
      .executeTakeFirst();
    return row?.number ?? null;
  }
}
