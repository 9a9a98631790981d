/** What a caller may do, one permission per action (action-api §5). */
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

export const ROLES = ['owner', 'admin', 'editor', 'responder', 'viewer'] as const;

export type Role = (typeof ROLES)[number];

const VIEWS = PERMISSIONS.filter((permission) => permission.endsWith(':view'));

/** The permissions of each role (decisions §4). */
export const ROLE_PERMISSIONS: Record<Role, readonly Permission[]> = {
  owner: PERMISSIONS,
  admin: PERMISSIONS,
  editor: PERMISSIONS.filter((permission) => permission !== 'services:delete'),
  responder: [...VIEWS, 'oncall:edit'],
  viewer: VIEWS,
};

export function isPermission(text: string): text is Permission {
  return (PERMISSIONS as readonly string[]).includes(text);
}

export function isRole(text: string): text is Role {
  return (ROLES as readonly string[]).includes(text);
}
