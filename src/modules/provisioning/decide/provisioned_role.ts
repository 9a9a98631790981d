import { ROLES, type Role } from '#kernel/permissions.ts';

/** Roles that an identity provider can give. Owners are made by owners alone, so that its token never makes one. */
export const PROVISIONED_ROLES = ['admin', 'editor', 'responder', 'viewer'] as const;

export type ProvisionedRole = (typeof PROVISIONED_ROLES)[number];

export interface RoleFacts {
  readonly role: Role;
  /** Roles of the mapped groups that the person is in. */
  readonly mapped: readonly ProvisionedRole[];
  /** Whether a mapped group gave the present role until now. */
  readonly wasMapped: boolean;
  /** Role of people whom no group gives one. */
  readonly fallback: ProvisionedRole;
}

/** Returns the role that the groups of a person give: the highest of them. An owner stays one. */
export function roleByGroups({ role, mapped, wasMapped, fallback }: RoleFacts): Role {
  if (role === 'owner') return role;
  const highest = ROLES.find((candidate) => (mapped as readonly Role[]).includes(candidate));
  return highest ?? (wasMapped ? fallback : role);
}
