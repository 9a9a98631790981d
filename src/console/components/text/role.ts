import { isolateBidi } from '#console/components/text/bidi.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';

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

/** Returns the name of somebody who may be put on call, with a note if their role cannot answer a page. */
export function onCallLabel(name: string, role: Role): string {
  return mayAnswer(role) ? isolateBidi(name) : `${isolateBidi(name)}, ${role}: cannot answer`;
}
