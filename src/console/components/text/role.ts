import type { Member } from '#console/api/organization.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { mayAnswer } from '#kernel/permissions.ts';

type Reach = Pick<Member, 'teams' | 'warnings'>;

/** Whether nothing reaches a member in any of their teams. */
export function isUnreached({ teams, warnings }: Reach): boolean {
  return warnings.length >= Math.max(1, teams.length);
}

/** Returns the name of somebody who may be put on call, with a note if they cannot answer a page or get none. */
export function onCallLabel({ name, role, ...reach }: Pick<Member, 'name' | 'role'> & Reach): string {
  const label = isolateBidi(name);
  if (!mayAnswer(role)) return `${label}, ${role}: cannot answer`;
  return isUnreached(reach) ? `${label}, nothing reaches them` : label;
}
