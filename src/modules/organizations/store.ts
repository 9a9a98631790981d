import { AppError } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { InvitationEntity } from '#storage/postgres/entities/sign_in.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';
import type { NewestPage } from '#storage/postgres/newest_page.ts';

const READ = ['orgId', 'email', 'role', 'teamIds', 'createdAt', 'expiresAt', 'acceptedAt'] as const;

export type InvitationRow = Pick<Row<typeof InvitationEntity>, (typeof READ)[number]> & {
  readonly invitationId: Id<'invitation'>;
  readonly organizationName: string;
  /** The name of the author; null once their account is gone. */
  readonly invitedBy: string | null;
  /** Whether it can be accepted: nobody has used or revoked it, and its author may still ask for this role. */
  readonly isOpen: boolean;
};

export type NewInvitation = Pick<
  Row<typeof InvitationEntity>,
  'orgId' | 'email' | 'role' | 'teamIds' | 'tokenHash' | 'mailedTokenHash' | 'expiresAt'
> & { readonly invitedBy: Id<'user'> };

/** Filter of invitations: accepted ones, those not accepted, or both. */
export interface InvitationFilter {
  readonly isAccepted?: boolean | undefined;
}

/** Invitations, found by the hash of their token. */
export class InvitationStore extends PostgresStore {
  /** Revokes an earlier one of the same address. */
  async insert(invitation: NewInvitation, now: Temporal.Instant): Promise<Id<'invitation'>> {
    const { db } = this;
    const row = { id: newId('invitation'), ...invitation, createdAt: now };
    await this.#revoking(now)
      .where('org_id', '=', invitation.orgId)
      .where(({ eb, fn, val }) => eb(fn('lower', ['email']), '=', fn('lower', [val(invitation.email)])))
      .execute();
    try {
      await db.insertInto('invitations').values(toColumns(InvitationEntity, row)).execute();
    } catch (error) {
      if (isUniqueViolation(error))
        throw new AppError('conflict', 'somebody else is inviting the same person at this moment; try again');
      throw error;
    }
    return row.id;
  }

  /** Lists invitations that were not revoked, newest first. */
  async list(
    orgId: Id<'org'>,
    filter: InvitationFilter,
    { after, limit }: NewestPage<'invitation'>,
    now: Temporal.Instant,
  ): Promise<InvitationRow[]> {
    let query = this.#matching(orgId, filter, now);
    if (after !== null) {
      query = query.where((eb) => eb(eb.refTuple('i.created_at', 'i.id'), '<', eb.tuple(after.at, after.id)));
    }
    return await query.orderBy('i.created_at', 'desc').orderBy('i.id', 'desc').limit(limit).execute();
  }

  async count(orgId: Id<'org'>, filter: InvitationFilter, now: Temporal.Instant): Promise<number> {
    const { count } = await this.#matching(orgId, filter, now)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  async find(orgId: Id<'org'>, invitationId: string, now: Temporal.Instant): Promise<InvitationRow | null> {
    const row = await this.#invitations(now)
      .where('i.org_id', '=', orgId)
      .where('i.id', '=', asId('invitation', invitationId))
      .where('i.revoked_at', 'is', null)
      .executeTakeFirst();
    return row ?? null;
  }

  /** Finds the open invitation of an address, in any case. */
  async findOpenOf(orgId: Id<'org'>, email: string, now: Temporal.Instant): Promise<InvitationRow | null> {
    const rows = await this.#matching(orgId, { isAccepted: false }, now)
      .where(({ eb, fn, val }) => eb(fn('lower', ['i.email']), '=', fn('lower', [val(email)])))
      .execute();
    return rows.find(({ isOpen }) => isOpen) ?? null;
  }

  /** Null when it is unknown, used, revoked or expired, or its author may no longer ask for it. */
  async findOpen(
    tokenHash: Buffer,
    now: Temporal.Instant,
  ): Promise<(InvitationRow & { readonly isMailed: boolean }) | null> {
    const row = await this.#invitations(now)
      .where(({ eb, or }) => or([eb('i.token_hash', '=', tokenHash), eb('i.mailed_token_hash', '=', tokenHash)]))
      .select(({ eb }) => eb(eb.fn.coalesce('i.mailed_token_hash', 'i.token_hash'), '=', tokenHash).as('isOfMail'))
      .select(({ eb }) => eb('i.mailed_token_hash', 'is not', null).as('wasMailed'))
      .executeTakeFirst();
    if (row?.isOpen !== true) return null;
    const { isOfMail, wasMailed, ...invitation } = row;
    return { ...invitation, isMailed: Boolean(isOfMail) && Boolean(wasMailed) };
  }

  /** Accepts the invitation; of several calls at the same time one gets true. */
  async accept(invitationId: Id<'invitation'>, now: Temporal.Instant): Promise<boolean> {
    const accepted = await this.updateTable('invitations')
      .set({ accepted_at: now })
      .where('id', '=', invitationId)
      .where('accepted_at', 'is', null)
      .where('revoked_at', 'is', null)
      .where('expires_at', '>', now)
      .execute();
    return rowsChanged(accepted) > 0;
  }

  /** False when it is unknown, accepted or revoked. */
  async revoke(orgId: Id<'org'>, invitationId: string, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.#revoking(now)
      .where('org_id', '=', orgId)
      .where('id', '=', asId('invitation', invitationId))
      .execute();
    return rowsChanged(revoked) > 0;
  }

  /** Removes those that expired before without being accepted. */
  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.deleteFrom('invitations').where('accepted_at', 'is', null).where('expires_at', '<=', before).execute();
  }

  #matching(orgId: Id<'org'>, { isAccepted }: InvitationFilter, now: Temporal.Instant) {
    const query = this.#invitations(now).where('i.org_id', '=', orgId).where('i.revoked_at', 'is', null);
    if (isAccepted === undefined) return query;
    return query.where('i.accepted_at', isAccepted ? 'is not' : 'is', null);
  }

  /** An invitation ends with what its author may allow, so that nobody who was removed comes in again by their own. */
  #invitations(now: Temporal.Instant) {
    return this.selectFrom('invitations as i')
      .innerJoin('organizations as o', 'o.id', 'i.org_id')
      .leftJoin('users as u', 'u.id', 'i.invited_by')
      .leftJoin('memberships as m', (join) =>
        join.onRef('m.org_id', '=', 'i.org_id').onRef('m.user_id', '=', 'i.invited_by'),
      )
      .select(columns(InvitationEntity, 'i', READ))
      .select(['i.id as invitationId', 'o.name as organizationName', 'u.name as invitedBy'])
      .select(({ eb, and, or }) => {
        const mayAllow = or([
          eb('m.role', '=', 'owner'),
          and([eb('m.role', '=', 'admin'), eb('i.role', '<>', 'owner')]),
        ]);
        return and([
          eb('i.accepted_at', 'is', null),
          eb('i.revoked_at', 'is', null),
          eb('i.expires_at', '>', now),
          eb(mayAllow, 'is', true),
        ])
          .$castTo<boolean>()
          .as('isOpen');
      });
  }

  #revoking(now: Temporal.Instant) {
    return this.updateTable('invitations')
      .set({ revoked_at: now })
      .where('accepted_at', 'is', null)
      .where('revoked_at', 'is', null);
  }
}
