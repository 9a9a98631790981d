import { Text } from '@mantine/core';

import { Dialog } from '#console/components/dialog.tsx';
import { EVERY_ROLE_SEES_KEYS, RIGHTS } from '#console/components/text/role_note.tsx';
import classes from '#console/pages/settings/role_table.module.css';
import {
  type OperationPermission,
  type Role,
  ROLE_CONSOLE_PERMISSIONS,
  ROLE_PERMISSIONS,
  ROLES,
} from '#kernel/permissions.ts';

/** Rights of owners alone, whose operations ask for the role itself. */
const OF_OWNERS = [
  'Make and remove owners',
  'Set sign-in, networks and provisioning; end sessions of others',
  'Stream the audit log, export the organization',
  'Limit agents, let them go on after a stop',
];

function mayDo(role: Role, permission: OperationPermission): boolean {
  return [...ROLE_PERMISSIONS[role], ...ROLE_CONSOLE_PERMISSIONS[role]].some((granted) => granted === permission);
}

/** Dialog of what each role may do, read from the permissions that every request is checked against. */
export function RoleTable({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="What each role may do" onClose={onClose} isWide>
      <div className={classes.scroll} tabIndex={0} role="region" aria-label="Roles and permissions">
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">May</th>
              {ROLES.map((role) => (
                <th key={role} scope="col">
                  {role}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {RIGHTS.map(([permission, text]) => (
              <tr key={permission}>
                <th scope="row">{text}</th>
                {ROLES.map((role) => (
                  <td key={role}>{mayDo(role, permission) ? 'yes' : <span className="dimmed">no</span>}</td>
                ))}
              </tr>
            ))}
            {OF_OWNERS.map((text) => (
              <tr key={text}>
                <th scope="row">{text}</th>
                {ROLES.map((role) => (
                  <td key={role}>{role === 'owner' ? 'yes' : <span className="dimmed">no</span>}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Text size="sm" c="dimmed" mt="md">
        {EVERY_ROLE_SEES_KEYS}
      </Text>
    </Dialog>
  );
}
