import { PERMISSIONS, type Permission, type Role, ROLE_PERMISSIONS } from '#kernel/permissions.ts';

/** Returns the permissions of a key to change something; `role` is its user's, null for a key of the organization. */
export function changesOfKey(permissions: readonly Permission[] | null, role: Role | null): Permission[] {
  const ceiling = role === null ? PERMISSIONS : ROLE_PERMISSIONS[role];
  return ceiling.filter(
    (permission) => !permission.endsWith(':view') && (permissions === null || permissions.includes(permission)),
  );
}

/** Explains why a key with these permissions cannot respond to incidents: an agent proposes, and people decide. */
export function keyMayOnlyLook(changes: readonly Permission[]): string {
  return `a key that responds to incidents must only look, and this one has ${changes.join(', ')}; create one with permissions to view alone`;
}
