import type { Role } from '#console/api/session.ts';

export const ROLES: readonly Role[] = ['owner', 'admin', 'editor', 'responder', 'viewer'];

export const ROLE_MEANS: Record<Role, string> = {
  owner: 'Everything, owners included',
  admin: 'Everything but owners',
  editor: 'Changes everything, deletes no service',
  responder: 'Answers incidents, arranges on-call',
  viewer: 'Looks, changes nothing',
};
