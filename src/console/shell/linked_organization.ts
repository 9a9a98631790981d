import { LINKED_ORGANIZATION } from '#modules/pages/decide/link_to.ts';

const STORAGE_KEY = 'tocsin-linked-organization';

/** Keeps the organization that the address names, also while the person signs in, and removes it from the address. */
export function keepLinkedOrganization(): void {
  const url = new URL(location.href);
  const orgId = url.searchParams.get(LINKED_ORGANIZATION);
  if (orgId === null) return;
  sessionStorage.setItem(STORAGE_KEY, orgId);
  url.searchParams.delete(LINKED_ORGANIZATION);
  history.replaceState(history.state, '', url);
}

/** Returns the organization that the link named, once; null if it is none of these. */
export function takeLinkedOrganization(organizations: readonly { readonly orgId: string }[]): string | null {
  const linked = sessionStorage.getItem(STORAGE_KEY);
  sessionStorage.removeItem(STORAGE_KEY);
  return organizations.some(({ orgId }) => orgId === linked) ? linked : null;
}
