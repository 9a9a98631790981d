/** Permissions of a caller, one per action. */
export const PERMISSIONS = [
  'services:view',
  'services:edit',
  'services:delete',
  'dashboards:view',
  'dashboards:edit',
  'exceptions:view',
  'exceptions:edit',
  'oncall:view',
  'oncall:edit',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

/**
 * Permissions for the console's own operations if none of the contract covers them: to be a member, or to be an owner
 * or admin. Only people signed in to the console and the command line hold them; no API key and no connected app ever does.
 */
export type ConsolePermission = 'organization:view' | 'organization:manage';

/** Permissions for any operation, public or the console's own. */
export type OperationPermission = Permission | ConsolePermission;

export const ROLES = ['owner', 'admin', 'editor', 'responder', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

const VIEWS = PERMISSIONS.filter((permission) => permission.endsWith(':view'));

export const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  owner: PERMISSIONS,
  admin: PERMISSIONS,
  editor: PERMISSIONS.filter((permission) => permission !== 'services:delete'),
  responder: [...VIEWS, 'oncall:edit'],
  viewer: VIEWS,
};

/** Whether somebody in this role may acknowledge and resolve, and so can be paged to any purpose. */
export function mayAnswer(role: Role): boolean {
  return ROLE_PERMISSIONS[role].includes('oncall:edit');
}

/** The permissions that each role has in the console beyond those of the contract. */
export const ROLE_CONSOLE_PERMISSIONS: Record<Role, readonly ConsolePermission[]> = {
  owner: ['organization:view', 'organization:manage'],
  admin: ['organization:view', 'organization:manage'],
  editor: ['organization:view'],
  responder: ['organization:view'],
  viewer: ['organization:view'],
};

/** Roles that manage the organization: owners and admins. */
export const MANAGER_ROLES: readonly Role[] = ROLES.filter((role) =>
  ROLE_CONSOLE_PERMISSIONS[role].includes('organization:manage'),
);

export function isManagerRole(role: Role): boolean {
  return MANAGER_ROLES.includes(role);
}

/** Whether the first role is above the second. */
export function isAbove(role: Role, other: Role): boolean {
  return ROLES.indexOf(role) < ROLES.indexOf(other);
}

/**
 * Returns the highest role whose changes somebody may make who holds these permissions: at most their own role, and no
 * more than the key or the connection that they act through. `role` is null for a key of the organization.
 */
export function actingRoleOf(role: Role | null, permissions: ReadonlySet<OperationPermission>): Role {
  const atMost = role === null ? ROLES : ROLES.slice(ROLES.indexOf(role));
  return atMost.find((candidate) => changesOf(candidate).every((change) => permissions.has(change))) ?? 'viewer';
}

function changesOf(role: Role): readonly Permission[] {
  return ROLE_PERMISSIONS[role].filter((permission) => !permission.endsWith(':view'));
}

export function isPermission(text: string): text is Permission {
  return (PERMISSIONS as readonly string[]).includes(text);
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
