import type { Role } from '#console/api/session.ts';
import { readTextSearch, type TextSearch } from '#console/components/lists/search_field.tsx';
import { ROLES } from '#kernel/permissions.ts';

/** Filter of the members in an address. */
export interface MemberSearch extends TextSearch {
  readonly role?: Role;
}

export function readMemberSearch(search: Record<string, unknown>): MemberSearch {
  const role = ROLES.find((role) => role === search['role']);
  return { ...readTextSearch(search), ...(role !== undefined && { role }) };
}
