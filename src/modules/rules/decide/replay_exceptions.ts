import type { ColumnCondition } from '#modules/exceptions/decide/search_query.ts';
import type { Level } from '#modules/exceptions/decide/level.ts';
import { isAtLeast } from '#modules/exceptions/decide/triage.ts';
import type { ExceptionRuleSettings } from '#modules/rules/decide/kind_settings.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';

interface JudgedEvent {
  readonly title: string;
  readonly environment: string | null;
  readonly release: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

type Conditions = Pick<ExceptionRuleSettings, 'inEnvironment' | 'inRelease' | 'withTag' | 'withText'>;

export function meetsConditions(
  { inEnvironment, inRelease, withTag, withText }: Conditions,
  { title, environment, release, tags }: JudgedEvent,
): boolean {
  if (inEnvironment !== null && !matchesWildcard(environment ?? '', inEnvironment)) return false;
  if (inRelease !== null && !matchesWildcard(release ?? '', inRelease)) return false;
  if (!isInTitle(withText, title)) return false;
  return withTag === null || hasTag(tags, splitTag(withTag));
}

export function isInTitle(text: string | null, title: string): boolean {
  return text === null || title.toLowerCase().includes(text.toLowerCase());
}

function hasTag(tags: JudgedEvent['tags'], { key, value }: ReturnType<typeof splitTag>): boolean {
  return Object.hasOwn(tags, key) && matchesWildcard(tags[key] ?? '', value);
}

function splitTag(tag: string): { readonly key: string; readonly value: string } {
  const colon = tag.indexOf(':');
  return { key: tag.slice(0, colon), value: tag.slice(colon + 1) };
}

/** Returns the conditions of a rule on each event that it counts, as a search has them. */
export function eventConditionsOf({
  inEnvironment,
  inRelease,
  withTag,
}: Omit<Conditions, 'withText'>): ColumnCondition[] {
  return [
    ...(inEnvironment === null ? [] : [{ field: 'env', value: inEnvironment } as const]),
    ...(inRelease === null ? [] : [{ field: 'release', value: inRelease } as const]),
    ...(withTag === null ? [] : [{ field: 'tag', ...splitTag(withTag) } as const]),
  ];
}

/** A group that began, or came back, at a time. */
export interface Occasion {
  readonly groupId: Id<'group'>;
  readonly title: string;
  readonly outcome: 'new' | 'regression';
  readonly at: Temporal.Instant;
  /** Release that brought it back; null for a new group, whose event says it. */
  readonly release: string | null;
}

/** The first stored event of a group within the time that is replayed. */
export interface FirstEvent {
  readonly level: Level;
  readonly environment: string | null;
  readonly release: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

interface ReplayedIncident extends Omit<Occasion, 'release'> {
  readonly severity: Level;
}

/** Returns the incidents that a rule on new exceptions would have opened, in the order of the occasions. */
export function replayExceptions(
  { minSeverity, settings }: { readonly minSeverity: Level; readonly settings: ExceptionRuleSettings },
  occasions: readonly Occasion[],
  firstEvents: ReadonlyMap<Id<'group'>, FirstEvent>,
): ReplayedIncident[] {
  return occasions.flatMap(({ release, ...occasion }): ReplayedIncident[] => {
    const event = firstEvents.get(occasion.groupId);
    // Its events were merged away or are not kept any more.
    if (event === undefined || !isAtLeast(event.level, minSeverity)) return [];
    const judged = { ...event, title: occasion.title, release: release ?? event.release };
    if (!meetsConditions(settings, judged)) return [];
    return [{ ...occasion, severity: settings.incidentSeverity ?? event.level }];
  });
}
