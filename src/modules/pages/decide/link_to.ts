/** Query parameter for the organization of a page: the console shows that one, whichever was shown last. */
export const LINKED_ORGANIZATION = 'org';

/** Returns the address of a page of the console, for a message: its receiver may belong to several organizations. */
export function linkTo(baseUrl: string, path: string, orgId: string): string {
  return `${baseUrl}${path}?${LINKED_ORGANIZATION}=${orgId}`;
}
