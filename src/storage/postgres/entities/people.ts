import { type InferEntity, p } from '@mikro-orm/postgresql';

import type { Role } from '#kernel/permissions.ts';
import type { ManagedChanges } from '#modules/configuration/decide/managed_changes.ts';
import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';
import type { Profile } from '#modules/provisioning/decide/scim_user.ts';
import type { SuspendedMembership } from '#modules/provisioning/decide/suspended_membership.ts';
import { bigint, id, instant, jsonColumn, table, text } from '#storage/postgres/entities/column_types.ts';

export const OrganizationEntity = table('organizations', {
  id: id<'org'>().primary(),
  name: p.text(),
  createdAt: instant(),
  secondFactorRequired: p.boolean().default(false),
  /** Link to the traces, with `{traceId}` in it; null while nobody has set it. */
  traceLink: p.text().strictNullable(),
  /** Whether the console shows what capabilities cost, for those who bill their teams. */
  showsPrices: p.boolean().default(false),
  /** Whether people may change in the console what a configuration file manages. */
  managedChanges: text<ManagedChanges>().default('allowed'),
  /** Time since which its incidents page nobody; null if they page. */
  shadowSince: instant().strictNullable(),
  /** Networks from which keys and connected apps act; null for everywhere. */
  keyNetworks: jsonColumn<readonly string[]>().strictNullable(),
  /** Networks from which people act in the console; null for everywhere. */
  sessionNetworks: jsonColumn<readonly string[]>().strictNullable(),
  /** Role of people whom the identity provider brings in and no mapped group says more of. */
  provisionedRole: text<ProvisionedRole>().default('viewer'),
});

export const UserEntity = table('users', {
  id: id<'user'>().primary(),
  email: p.text(),
  name: p.text(),
  passwordHash: p.text().strictNullable(),
  /**
   * Time since which the address is proven by a link that was sent to it alone; null: anybody may have entered it.
   */
  addressProvenAt: instant().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** An account that is made. */
export interface NewUser extends Pick<InferEntity<typeof UserEntity>, 'email' | 'name' | 'passwordHash'> {
  /** Whether it is known that this person reads mail to the address. */
  readonly isAddressProven: boolean;
}

export const MembershipEntity = table('memberships', {
  orgId: id<'org'>().primary(),
  userId: id<'user'>().primary(),
  role: text<Role>(),
  createdAt: instant(),
  phone: p.text().strictNullable(),
  smsEnabled: p.boolean().default(true),
  callEnabled: p.boolean().default(true),
  pushEnabled: p.boolean().default(true),
  emailEnabled: p.boolean().default(true),
  /** Number of the person's colour, of those of `PERSON_COLORS`; the database chooses it for a new member. */
  color: p.integer().default(-1),
});

/** A person as the identity provider of an organization has named them. */
export const ScimUserEntity = table('scim_users', {
  orgId: id<'org'>().primary(),
  userId: id<'user'>().primary(),
  userName: p.text(),
  externalId: p.text().strictNullable(),
  profile: jsonColumn<Profile>(),
  /** Whether the account was made by this organization's provisioning. */
  isAccountMade: p.boolean(),
  /** Membership to restore when the person is activated again; null if none is. */
  suspended: jsonColumn<SuspendedMembership>().strictNullable(),
  createdAt: instant(),
  updatedAt: instant(),
});

/** A group of the identity provider, with the team and the role that an owner has mapped it to. */
export const ScimGroupEntity = table('scim_groups', {
  id: id<'scimgroup'>().primary(),
  orgId: id<'org'>(),
  displayName: p.text(),
  externalId: p.text().strictNullable(),
  teamId: id<'team'>().strictNullable(),
  role: text<ProvisionedRole>().strictNullable(),
  /** Raised by each change, for entity tags. */
  version: bigint(),
  createdAt: instant(),
  updatedAt: instant(),
});

export const ScimGroupMemberEntity = table('scim_group_members', {
  groupId: id<'scimgroup'>().primary(),
  userId: id<'user'>().primary(),
});
