import { useOrganization } from '#console/shell/organization.tsx';
import { type OperationPermission, type Permission, type Role, ROLE_PERMISSIONS, ROLES } from '#kernel/permissions.ts';

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: 'Can do everything, including managing owners',
  admin: 'Can do everything except manage owners',
  editor: 'Can change everything, but cannot delete services',
  responder: 'Can answer incidents and manage on-call',
  viewer: 'Can view everything, but cannot change anything',
};

/** Text on what every role can see, and what it allows. */
export const EVERY_ROLE_SEES_KEYS =
  'Every role, including viewer, can reveal the ingestion key and DSN of a service. Anyone who has them can send data, and that data can page people. The audit log records each reveal.';

/** Meanings of permissions, in the order of the table. */
export const RIGHTS: readonly (readonly [OperationPermission, string])[] = [
  ['oncall:view', 'See incidents, schedules, policies and rules'],
  ['exceptions:view', 'See exceptions'],
  ['dashboards:view', 'See metrics and dashboards'],
  ['services:view', 'See services, their keys and what they send'],
  ['oncall:edit', 'Answer incidents; change schedules, policies, rules and teams'],
  ['exceptions:edit', 'Resolve, assign, merge and comment on exceptions'],
  ['dashboards:edit', 'Change dashboards'],
  ['services:edit', 'Create and change services, turn on what is paid for'],
  ['services:delete', 'Delete services, keep their data for a shorter time'],
  ['organization:manage', 'Invite people, change roles, see the audit log and billing'],
];

/** Returns what somebody with the permission may do, in the words of the table of roles, within a sentence. */
function rightText(permission: OperationPermission): string {
  const text = RIGHTS.find(([candidate]) => candidate === permission)?.[1] ?? '';
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/** Sentence that tells somebody whose role lacks a permission what it allows, and whose role has it. */
export function RoleNote({ permission }: { readonly permission: Permission }) {
  const { role } = useOrganization().org;
  const view = permission.replace(/:.*/, ':view') as Permission;
  const lowest = ROLES.findLast((candidate) => ROLE_PERMISSIONS[candidate].includes(permission)) ?? 'owner';
  return `Your role, ${role}, may ${rightText(view)}. ${lowest[0]?.toUpperCase()}${lowest.slice(1)}s and above may ${rightText(permission)}.`;
}
