import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';

/** Assigns new groups to a person or a team. Conditions that are null always hold. */
export interface AssignmentRule {
  /** Path of a file in the stack, in which `*` stands for anything. */
  readonly path: string | null;
  /** Tag of the event; `*` in the value stands for anything. */
  readonly tag: { readonly key: string; readonly value: string } | null;
  /** Id of a person or of a team. */
  readonly assigneeId: string;
}

/** An assignment rule that matches, with its position, counted from 1. */
export interface Match {
  readonly assigneeId: string;
  readonly position: number;
}

/** Returns the matching rules in their order: the first whose person or team is still there decides. */
export function matchingRules(
  rules: readonly AssignmentRule[],
  event: Pick<ExceptionEvent, 'exceptions' | 'thread' | 'stacktrace' | 'tags'>,
): Match[] {
  if (rules.length === 0) return [];
  const paths = rules.some(({ path }) => path !== null) ? pathsOf(event) : [];
  return rules.flatMap(({ path, tag, assigneeId }, index): Match[] => {
    if (path !== null && !paths.some((file) => matchesWildcard(file, path))) return [];
    if (tag !== null && !hasTag(event.tags, tag)) return [];
    return [{ assigneeId, position: index + 1 }];
  });
}

function hasTag(
  tags: ExceptionEvent['tags'],
  { key, value }: { readonly key: string; readonly value: string },
): boolean {
  const sent = Object.hasOwn(tags, key) ? tags[key] : undefined;
  return sent !== undefined && matchesWildcard(sent, value);
}

/** Returns the files of the stacks, without a leading `./` or `/`, so that a pattern need not begin with either. */
function pathsOf({ exceptions, thread, stacktrace }: Parameters<typeof matchingRules>[1]): string[] {
  const frames = [...exceptions.flatMap((exception) => exception.frames), ...(thread?.frames ?? []), ...stacktrace];
  const files = frames.flatMap(({ filename, absPath }) => [filename, absPath]).filter((file) => file !== null);
  return [...new Set(files.flatMap((file) => [file, file.replace(/^\.?\//, '')]))];
}
