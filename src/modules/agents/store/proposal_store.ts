import type { IncidentActor } from '#modules/incidents/decide/incident.ts';
import type { ProposalStatus } from '#modules/agents/decide/proposal.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  anyOf,
  columns,
  holdLock,
  json,
  PostgresStore,
  type Row,
  rowsChanged,
  toColumns,
} from '#storage/postgres/store.ts';
import { ProposalEntity } from '#storage/postgres/entities/responders.ts';

export type ProposalRow = Row<typeof ProposalEntity>;

export type NewProposal = Pick<
  ProposalRow,
  'orgId' | 'incidentId' | 'kind' | 'agentId' | 'agentName' | 'action' | 'input' | 'sentence' | 'evidence' | 'expiresAt'
>;

/** Decision of a person. */
export interface Decided {
  readonly status: Exclude<ProposalStatus, 'proposed'>;
  readonly by: IncidentActor;
  readonly answer: string | null;
}

/** Somebody to whom pages of an incident went, by an address that an answer can come from. */
interface PagedAddress {
  readonly userId: Id<'user'>;
  readonly channel: 'sms' | 'email' | 'push';
  readonly address: string | null;
}

export class ProposalStore extends PostgresStore {
  async insert(proposal: NewProposal, now: Temporal.Instant): Promise<ProposalRow> {
    const { orgId } = proposal;
    await holdLock(this.session, `proposals ${orgId}`);
    const { number } = await this.selectFrom('proposals')
      .select(({ fn, eb, val }) => eb(fn.coalesce(fn.max('number'), val(0)), '+', 1).as('number'))
      .where('org_id', '=', orgId)
      .executeTakeFirstOrThrow();
    const row: ProposalRow = {
      id: newId('proposal'),
      ...proposal,
      number,
      status: 'proposed',
      createdAt: now,
      decidedAt: null,
      decidedBy: null,
      answer: null,
    };
    await this.insertInto('proposals')
      .values(toColumns(ProposalEntity, { ...row }))
      .execute();
    return row;
  }

  async find(orgId: Id<'org'>, proposalId: string): Promise<ProposalRow | null> {
    const row = await this.#proposals()
      .where('p.org_id', '=', orgId)
      .where('p.id', '=', asId('proposal', proposalId))
      .executeTakeFirst();
    return row ?? null;
  }

  /**
   * Returns the proposal with the number that a reply names, among these incidents: of several organizations, the
   * newest.
   */
  async findByNumber(number: number, incidentIds: readonly Id<'incident'>[]): Promise<ProposalRow | null> {
    const row = await this.#proposals()
      .where('p.number', '=', number)
      .where('p.incident_id', '=', anyOf(incidentIds))
      .orderBy((eb) => eb('p.status', '=', 'proposed'), 'desc')
      .orderBy('p.created_at', 'desc')
      .orderBy('p.id')
      .limit(1)
      .executeTakeFirst();
    return row ?? null;
  }

  /** Newest first. */
  async listOf(incidentId: Id<'incident'>, limit: number): Promise<ProposalRow[]> {
    return await this.#proposals()
      .where('p.incident_id', '=', incidentId)
      .orderBy('p.number', 'desc')
      .limit(limit)
      .execute();
  }

  async countOf(incidentId: Id<'incident'>): Promise<number> {
    const { count } = await this.selectFrom('proposals')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('incident_id', '=', incidentId)
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * The one statement that settles a proposal: of all who answer at once, one gets true. What a yes would carry out is
   * settled only while the agents of the organization are not stopped and its own may respond, by a key that still works.
   */
  async settle(proposal: ProposalRow, { status, by, answer }: Decided, now: Temporal.Instant): Promise<boolean> {
    const settled = await this.updateTable('proposals as p')
      .set({ status, decided_at: now, decided_by: json(by), answer })
      .where('p.id', '=', proposal.id)
      .where('p.status', '=', 'proposed')
      .where('p.expires_at', '>', now)
      .$if(status === 'carried_out', (query) =>
        query.where(({ and, exists, not, selectFrom }) =>
          and([
            exists(
              selectFrom('responders as r')
                .leftJoin('api_keys as k', 'k.id', 'r.api_key_id')
                .select('r.agent_id')
                .whereRef('r.agent_id', '=', 'p.agent_id')
                .where('k.revoked_at', 'is', null)
                .where(({ eb, or }) => or([eb('k.expires_at', 'is', null), eb('k.expires_at', '>', now)])),
            ),
            not(
              exists(
                selectFrom('agent_settings as s')
                  .select('s.org_id')
                  .whereRef('s.org_id', '=', 'p.org_id')
                  .where('s.are_stopped', '=', true),
              ),
            ),
          ]),
        ),
      )
      .execute();
    return rowsChanged(settled) > 0;
  }

  /** Ends what waits of one agent, or of every agent of the organization, for good; returns how many. */
  async endOpen(orgId: Id<'org'>, agentId: string | null, now: Temporal.Instant): Promise<number> {
    const ended = await this.updateTable('proposals')
      .set({ expires_at: now })
      .where('org_id', '=', orgId)
      .where('status', '=', 'proposed')
      .where('expires_at', '>', now)
      .$if(agentId !== null, (query) => query.where('agent_id', '=', agentId ?? ''))
      .execute();
    return rowsChanged(ended);
  }

  /** Lists the people and addresses to which pages of this incident were sent, each once. */
  async listPagedAddresses(incidentId: Id<'incident'>): Promise<PagedAddress[]> {
    return await this.selectFrom('notifications as n')
      .select(['n.user_id as userId', 'n.channel', 'n.address'])
      .distinct()
      .where('n.incident_id', '=', incidentId)
      .where('n.kind', '=', 'page')
      .where('n.channel', 'in', ['sms', 'email', 'push'])
      .where('n.status', 'in', ['sending', 'sent', 'delivered'])
      .orderBy('n.user_id')
      .orderBy('n.channel')
      .orderBy('n.address')
      .limit(50)
      .$narrowType<{ channel: PagedAddress['channel'] }>()
      .execute();
  }

  #proposals() {
    return this.selectFrom('proposals as p').select(columns(ProposalEntity, 'p'));
  }
}
