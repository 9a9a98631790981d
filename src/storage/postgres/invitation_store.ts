import { AppError } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

/** Somebody asked to join an organization. */
export interface InvitationRow {
  readonly invitationId: Id<'invitation'>;
  readonly orgId: Id<'org'>;
  readonly organizationName: string;
  readonly email: string;
  readonly role: Role;
  /** The name of who asked; null once their account is gone. */
  readonly invitedBy: string | null;
  readonly createdAt: Temporal.Instant;
  readonly expiresAt: Temporal.Instant;
  readonly acceptedAt: Temporal.Instant | null;
  /** Whether it can be accepted: it is open, and who asked may still ask for this role. */
  readonly isOpen: boolean;
}

export interface NewInvitation {
  readonly orgId: Id<'org'>;
  readonly email: string;
  readonly role: Role;
  readonly tokenHash: Buffer;
  readonly invitedBy: Id<'user'>;
  readonly expiresAt: Temporal.Instant;
}

/** What an invitation allows ends with what its author may allow, so that nobody who was removed lets himself in again. */
const ROWS = `select i.id as "invitationId", i.org_id as "orgId", o.name as "organizationName", i.email, i.role,
    u.name as "invitedBy", i.created_at as "createdAt", i.expires_at as "expiresAt", i.accepted_at as "acceptedAt",
    i.accepted_at is null and i.revoked_at is null and i.expires_at > $1
      and (m.role = 'owner' or m.role = 'admin' and i.role <> 'owner') is true as "isOpen"
  from invitations i join organizations o on o.id = i.org_id left join users u on u.id = i.invited_by
    left join memberships m on m.org_id = i.org_id and m.user_id = i.invited_by`;

/** Invitations, found by the hash of their token. */
export class InvitationStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** An earlier one of the same address is no longer good. */
  async insert(invitation: NewInvitation, now: Temporal.Instant): Promise<Id<'invitation'>> {
    const id = newId('invitation');
    await this.#session.sql.run(
      `update invitations set revoked_at = $3
       where org_id = $1 and lower(email) = lower($2) and accepted_at is null and revoked_at is null`,
      [invitation.orgId, invitation.email, now.toString()],
    );
    try {
      await this.#session.sql.run(
        `insert into invitations (id, org_id, email, role, token_hash, invited_by, created_at, expires_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8)`,
        [
          id,
          invitation.orgId,
          invitation.email,
          invitation.role,
          invitation.tokenHash,
          invitation.invitedBy,
          now.toString(),
          invitation.expiresAt.toString(),
        ],
      );
    } catch (error) {
      if (isUniqueViolation(error)) throw new AppError('conflict', 'somebody else invites the same person right now');
      throw error;
    }
    return id;
  }

  /** Those that were not revoked, newest first. */
  async list(orgId: Id<'org'>, limit: number, now: Temporal.Instant): Promise<InvitationRow[]> {
    return await this.#session.sql.rows(
      `${ROWS} where i.org_id = $2 and i.revoked_at is null order by i.created_at desc, i.id desc limit $3`,
      [now.toString(), orgId, limit],
    );
  }

  async find(orgId: Id<'org'>, invitationId: string, now: Temporal.Instant): Promise<InvitationRow | null> {
    return await this.#session.sql.row(`${ROWS} where i.org_id = $2 and i.id = $3 and i.revoked_at is null`, [
      now.toString(),
      orgId,
      invitationId,
    ]);
  }

  /** Null when it is unknown, used, revoked or expired, or its author may no longer ask for it. */
  async findOpen(tokenHash: Buffer, now: Temporal.Instant): Promise<InvitationRow | null> {
    const found = await this.#session.sql.row<InvitationRow>(`${ROWS} where i.token_hash = $2`, [
      now.toString(),
      tokenHash,
    ]);
    return found?.isOpen === true ? found : null;
  }

  /** Of several at the same time one gets true. */
  async accept(invitationId: Id<'invitation'>, now: Temporal.Instant): Promise<boolean> {
    const accepted = await this.#session.sql.run(
      `update invitations set accepted_at = $2
       where id = $1 and accepted_at is null and revoked_at is null and expires_at > $2`,
      [invitationId, now.toString()],
    );
    return accepted > 0;
  }

  /** False when there is none that could be accepted some day. */
  async revoke(orgId: Id<'org'>, invitationId: string, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.#session.sql.run(
      `update invitations set revoked_at = $3
       where org_id = $1 and id = $2 and accepted_at is null and revoked_at is null`,
      [orgId, invitationId, now.toString()],
    );
    return revoked > 0;
  }

  /** Forgets what nobody could accept any more. */
  async removeOld(before: Temporal.Instant): Promise<void> {
    await this.#session.sql.run('delete from invitations where accepted_at is null and expires_at <= $1', [
      before.toString(),
    ]);
  }
}
