import { isolateBidi } from '#console/components/bidi.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';

/** The name of somebody who may be put on call; says so if their role cannot answer a page. */
export function dutyLabel(name: string, role: Role): string {
  return mayAnswer(role) ? isolateBidi(name) : `${isolateBidi(name)}, ${role}: cannot answer`;
}
