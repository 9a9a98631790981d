/** Limit on the length of an address template, and of an issue's address. */
export const ISSUE_URL_LENGTH_MAX = 2_000;

/** Placeholders of an address template, with what they stand for. */
export const ISSUE_PLACEHOLDERS = ['title', 'type', 'culprit', 'service', 'link'] as const;

type IssueFacts = {
  readonly [Name in (typeof ISSUE_PLACEHOLDERS)[number]]: string | null;
};

/**
 * Returns what is wrong with the address template of a tracker's form for a new issue, such as
 * `https://github.com/acme/shop/issues/new?title={title}&body={link}`; null if nothing is.
 */
export function issueLinkFault(template: string): string | null {
  const unknown = [...template.matchAll(/\{([^{}]*)\}/g)].find(
    ([, name]) => !ISSUE_PLACEHOLDERS.some((placeholder) => placeholder === name),
  );
  if (unknown !== undefined) {
    return `has the unknown placeholder ${unknown[0]}: use ${ISSUE_PLACEHOLDERS.map((name) => `{${name}}`).join(', ')}`;
  }
  const host = /^https:\/\/[^/?#{}]+/.exec(template);
  if (host === null || !URL.canParse(template)) return 'must be an https address whose host has no placeholder';
  return null;
}

/** Returns the address of the form for an issue about a group; null without a template. */
export function newIssueUrlOf(template: string | null, facts: IssueFacts): string | null {
  if (template === null) return null;
  return template.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => {
    const field = ISSUE_PLACEHOLDERS.find((placeholder) => placeholder === name);
    return field === undefined ? whole : encodeURIComponent((facts[field] ?? '').toWellFormed());
  });
}
