import { ACTIONS } from '#actions/registry.ts';
import { KIND_NOUNS, type Kind } from '#kernel/ids.ts';
import { keysOf } from '#kernel/records.ts';

/** Source of the ids of a kind for callers. */
export interface IdSource {
  readonly kind: Kind;
  readonly noun: string;
  /** Action whose result shows it. */
  readonly shownBy: string;
}

/** Properties whose name is not that of the kind. */
const OTHER_NAMES: Readonly<Record<string, Kind>> = { escalationPolicyId: 'policy' };

const SOURCES = new Map(
  ACTIONS.flatMap(({ name, lists = {} }) =>
    keysOf(lists).map((kind): [Kind, IdSource] => [kind, { kind, noun: KIND_NOUNS[kind], shownBy: name }]),
  ),
);

/** Returns the source for a property of a body or a result, such as `serviceId`; undefined if no action shows any. */
export function idSourceOf(property: string): IdSource | undefined {
  const kind = OTHER_NAMES[property] ?? (property.endsWith('Id') ? property.slice(0, -'Id'.length) : '');
  return isKind(kind) ? SOURCES.get(kind) : undefined;
}

/** Returns the kind whose ids a property holds, `targetUserIds` too; null for any other property. */
export function kindOfProperty(property: string): Kind | null {
  if (/userIds?$/i.test(property)) return 'user';
  return idSourceOf(property)?.kind ?? null;
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(KIND_NOUNS, text);
}
