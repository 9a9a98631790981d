import type { AssignmentRule } from '#modules/exceptions/decide/assignment.ts';
import { type ExceptionSettings, INBOUND_FILTERS } from '#modules/exceptions/decide/inbound_filters.ts';
import { keysOf } from '#kernel/records.ts';

/** Lists of settings for exceptions, as they are stored. */
type StoredLists = Pick<ExceptionSettings, 'filters' | 'patterns' | 'secretNames'> & {
  readonly assignmentRules: readonly AssignmentRule[];
};

const READABLE: Readonly<Record<keyof StoredLists, (item: unknown) => boolean>> = {
  filters: (filter) => INBOUND_FILTERS.some((name) => name === filter),
  patterns: isText,
  secretNames: isText,
  assignmentRules: isAssignmentRule,
};

/** Names of the lists that cannot be read, whoever wrote them. */
export function unreadableSettings(settings: StoredLists): (keyof StoredLists)[] {
  return keysOf(READABLE).filter((name) => {
    const list: unknown = settings[name];
    return !Array.isArray(list) || !list.every(READABLE[name]);
  });
}

function isText(stored: unknown): boolean {
  return typeof stored === 'string';
}

function isAssignmentRule(stored: unknown): boolean {
  const { path, tag, assigneeId } = Object(stored) as Record<string, unknown>;
  const { key, value } = Object(tag) as Record<string, unknown>;
  return (path === null || isText(path)) && (tag === null || (isText(key) && isText(value))) && isText(assigneeId);
}
