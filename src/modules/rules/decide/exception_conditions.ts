import { matchesPattern } from '#modules/exceptions/decide/inbound_filters.ts';
import type { ExceptionRuleSettings } from '#modules/rules/decide/exception_rule_settings.ts';

/** An event as the conditions of a rule see it. */
export interface JudgedEvent {
  readonly title: string;
  readonly environment: string | null;
  readonly release: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

type Conditions = Pick<ExceptionRuleSettings, 'inEnvironment' | 'inRelease' | 'withTag' | 'withText'>;

/** Whether an event meets all conditions of a rule. */
export function meetsConditions(
  { inEnvironment, inRelease, withTag, withText }: Conditions,
  { title, environment, release, tags }: JudgedEvent,
): boolean {
  if (inEnvironment !== null && !matchesPattern(environment ?? '', inEnvironment)) return false;
  if (inRelease !== null && !matchesPattern(release ?? '', inRelease)) return false;
  if (withText !== null && !title.toLowerCase().includes(withText.toLowerCase())) return false;
  return withTag === null || hasTag(tags, withTag);
}

function hasTag(tags: JudgedEvent['tags'], tag: string): boolean {
  const colon = tag.indexOf(':');
  const key = tag.slice(0, colon);
  return Object.hasOwn(tags, key) && matchesPattern(tags[key] ?? '', tag.slice(colon + 1));
}
