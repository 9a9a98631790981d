import { isolateBidi } from '#console/components/text/bidi.ts';
import { mayAnswer, type Role } from '#kernel/permissions.ts';

/** Returns the name of somebody who may be put on call, with a note if their role cannot answer a page. */
export function dutyLabel(name: string, role: Role): string {
  return mayAnswer(role) ? isolateBidi(name) : `${isolateBidi(name)}, ${role}: cannot answer`;
}
