import type { Fault } from '#kernel/errors.ts';

/** Texts of a rule for whoever is paged by it. */
export interface RuleGuidance {
  /** Meaning of an incident of the rule, in Markdown; null for none. */
  readonly description: string | null;
  /** Address of the instructions for its incidents; null for none. */
  readonly runbookUrl: string | null;
}

export const RULE_GUIDANCE_DEFAULTS: RuleGuidance = { description: null, runbookUrl: null };

export const DESCRIPTION_LENGTH_MAX = 2_000;
export const RUNBOOK_LENGTH_MAX = 1_000;

/** Returns the guidance that settings hold. */
export function guidanceOf(settings: Partial<RuleGuidance> | null): RuleGuidance {
  const { description = null, runbookUrl = null } = settings ?? {};
  // Settings are read as they are stored, so the address is checked again.
  return { description, runbookUrl: runbookUrl !== null && runbookFault(runbookUrl) === null ? runbookUrl : null };
}

/** Returns what is wrong with the address of a runbook; null if people may follow it. */
export function runbookFault(address: string): string | null {
  const url = URL.parse(address);
  // The parser of addresses drops line breaks and tabs, so they are looked for in the text.
  if (url === null || /[\s\p{Cc}\p{Cf}]/u.test(address))
    return 'must be a whole address, such as https://wiki.example.com/runbooks/checkout';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `must begin with https:// or http://`;
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user name or a password: everybody who is paged sees it';
  return null;
}

export function guidanceFaults({ description, runbookUrl }: Partial<RuleGuidance>, path: string): Fault[] {
  const fault = runbookUrl == null ? null : runbookFault(runbookUrl);
  return [
    ...(description != null && description.trim() === ''
      ? [{ path: `${path}.description`, message: 'must say something, or be null' }]
      : []),
    ...(fault === null ? [] : [{ path: `${path}.runbookUrl`, message: fault }]),
  ];
}
