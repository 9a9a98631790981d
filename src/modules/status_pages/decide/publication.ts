/** Impacts of an incident on a service, mildest first. */
export const IMPACTS = ['degraded', 'partial_outage', 'outage'] as const;

export type Impact = (typeof IMPACTS)[number];

/** Impacts as readers see them. */
export const IMPACT_TEXTS: Readonly<Record<Impact, string>> = {
  degraded: 'Degraded',
  partial_outage: 'Partial outage',
  outage: 'Outage',
};

/** Stages of a response, as readers are told. */
export const STAGES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;

export type Stage = (typeof STAGES)[number];

/** Stages as readers see them. */
export const STAGE_TEXTS: Readonly<Record<Stage, string>> = {
  investigating: 'Investigating',
  identified: 'Cause identified',
  monitoring: 'Watching',
  resolved: 'Resolved',
};

/** Path of the pages; the slug follows. */
export const STATUS_PATH = '/status';

export const STATUS_PAGES_MAX = 20;
export const GROUPS_MAX = 50;
export const COMPONENTS_MAX = 200;
export const UPDATES_MAX = 100;
/** Days that a page shows, today among them. */
export const HISTORY_DAYS = 90;
/** Limits on what one rendering of a page shows. */
export const PUBLICATIONS_SHOWN_MAX = 200;
export const UPDATES_SHOWN_MAX = 1_000;

/** Three to fifty lower-case letters, digits and hyphens between them. */
export const SLUG_PATTERN = '^[a-z0-9](?:[a-z0-9-]{1,48})[a-z0-9]$';

const SLUG = new RegExp(SLUG_PATTERN);

export function isSlug(text: string): boolean {
  return SLUG.test(text);
}

/** Whether the services of a stored publication can be read, whoever wrote them. */
export function arePublished(serviceIds: unknown): serviceIds is readonly string[] {
  return Array.isArray(serviceIds) && serviceIds.every((serviceId) => typeof serviceId === 'string');
}

/** Returns the worst of several impacts; null for none. */
export function worstImpact(impacts: readonly Impact[]): Impact | null {
  return IMPACTS.findLast((impact) => impacts.includes(impact)) ?? null;
}
