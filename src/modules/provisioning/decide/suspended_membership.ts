import type { Id } from '#kernel/ids.ts';
import type { Role } from '#kernel/permissions.ts';

/** Number and channels by which a person is paged. */
export interface KeptContact {
  readonly phone: string | null;
  readonly smsEnabled: boolean;
  readonly callEnabled: boolean;
  readonly pushEnabled: boolean;
  readonly emailEnabled: boolean;
}

export interface KeptPlace extends KeptContact {
  readonly teamId: Id<'team'>;
}

/** Membership that ended when the identity provider deactivated the person, to be restored with them. */
export interface SuspendedMembership {
  readonly role: Role;
  /** Null for a person who never was a member. */
  readonly contact: KeptContact | null;
  readonly teams: readonly KeptPlace[];
}
