import type { Role } from '#kernel/permissions.ts';

export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: 'Everything, owners included',
  admin: 'Everything but owners',
  editor: 'Changes everything, deletes no service',
  responder: 'Answers incidents, arranges on-call',
  viewer: 'Looks, changes nothing',
};

/** What every role may see, and what could be done with it. */
export const EVERY_ROLE_SEES_KEYS =
  'Every role, viewers included, can reveal the ingestion key and the DSN of a service. With them data can be sent, and that data can page people. Each reveal is in the audit log.';
