import { defineEntity, p } from '@mikro-orm/postgresql';

import type { Profile } from '#modules/provisioning/decide/scim_user.ts';
import type { ProvisionedRole } from '#modules/provisioning/decide/provisioned_role.ts';
import type { SuspendedMembership } from '#modules/provisioning/decide/suspended_membership.ts';
import { bigint, id, instant, jsonColumn, text } from '#storage/postgres/entities/column_types.ts';

/** A person as the identity provider of an organization has named them. */
export const ScimUserEntity = defineEntity({
  name: 'ScimUser',
  tableName: 'scim_users',
  properties: {
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
  },
});

/** A group of the identity provider, with the team and the role that an owner has mapped it to. */
export const ScimGroupEntity = defineEntity({
  name: 'ScimGroup',
  tableName: 'scim_groups',
  properties: {
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
  },
});

export const ScimGroupMemberEntity = defineEntity({
  name: 'ScimGroupMember',
  tableName: 'scim_group_members',
  properties: {
    groupId: id<'scimgroup'>().primary(),
    userId: id<'user'>().primary(),
  },
});
