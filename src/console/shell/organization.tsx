import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useMemo, useState } from 'react';

import { type Topic, topicKey } from '#console/api/actions.ts';
import { type Organization, type Session, sessionQuery } from '#console/api/session.ts';
import { isManagerRole } from '#kernel/permissions.ts';
import { LINKED_ORGANIZATION } from '#modules/pages/decide/pages.ts';

interface CurrentOrganization {
  readonly session: Session;
  readonly org: Organization;
  /** Whether the person has this permission. The server decides; this only hides what would be refused. */
  may(permission: string): boolean;
  readonly isAdmin: boolean;
  switchTo(orgId: string): void;
}

const OrganizationContext = createContext<CurrentOrganization | null>(null);

const STORAGE_KEY = 'tocsin-organization';

/** Provides the organization that is shown. The browser remembers it. */
export function OrganizationProvider({
  children,
  fallback,
}: {
  readonly children: ReactNode;
  /** Content for somebody who is not a member of any organization. */
  readonly fallback: ReactNode;
}) {
  const { data: session } = useSuspenseQuery(sessionQuery);
  const queryClient = useQueryClient();
  const [selectedId, setSelectedId] = useState(() => {
    const linked = takeLinkedOrganization(session?.organizations ?? []);
    if (linked !== null) localStorage.setItem(STORAGE_KEY, linked);
    return localStorage.getItem(STORAGE_KEY);
  });
  const org = session?.organizations.find(({ orgId }) => orgId === selectedId) ?? session?.organizations[0];
  const current = useMemo(() => {
    if (!session || org === undefined) return null;
    return {
      session,
      org,
      may: (permission: string) => org.permissions.some((held) => held === permission),
      isAdmin: isManagerRole(org.role),
      switchTo(orgId: string) {
        localStorage.setItem(STORAGE_KEY, orgId);
        setSelectedId(orgId);
        queryClient.removeQueries({ queryKey: ['org', org.orgId] });
      },
    };
  }, [session, org, queryClient]);
  useSwitchInOtherTab((orgId) => {
    if (org === undefined || orgId === org.orgId) return;
    setSelectedId(orgId);
    queryClient.removeQueries({ queryKey: ['org', org.orgId] });
  });
  if (!session) return null;
  if (current === null) return fallback;
  return <OrganizationContext value={current}>{children}</OrganizationContext>;
}

/**
 * Follows a switch of the organization in another tab. The page belongs to the organization that was left, so the tab
 * goes to the home page.
 */
function useSwitchInOtherTab(show: (orgId: string) => void): void {
  const navigate = useNavigate();
  const onSwitch = useEffectEvent((orgId: string) => {
    show(orgId);
    void navigate({ to: '/' });
  });
  useEffect(() => {
    const onStorage = ({ key, newValue }: StorageEvent): void => {
      if (key === STORAGE_KEY && newValue !== null) onSwitch(newValue);
    };
    window.addEventListener('storage', onStorage);
    return () => window.removeEventListener('storage', onStorage);
  }, []);
}

export function useOrganization(): CurrentOrganization {
  const current = useContext(OrganizationContext);
  if (current === null) throw new Error('useOrganization is used outside of OrganizationProvider');
  return current;
}

const LINKED_STORAGE_KEY = 'tocsin-linked-organization';

/** Keeps the organization that the address names, also while the person signs in, and removes it from the address. */
export function keepLinkedOrganization(): void {
  const url = new URL(location.href);
  const orgId = url.searchParams.get(LINKED_ORGANIZATION);
  if (orgId === null) return;
  sessionStorage.setItem(LINKED_STORAGE_KEY, orgId);
  url.searchParams.delete(LINKED_ORGANIZATION);
  history.replaceState(history.state, '', url);
}

/** Returns the organization that the link named, once; null if it is none of these. */
function takeLinkedOrganization(organizations: readonly { readonly orgId: string }[]): string | null {
  const linked = sessionStorage.getItem(LINKED_STORAGE_KEY);
  sessionStorage.removeItem(LINKED_STORAGE_KEY);
  return organizations.some(({ orgId }) => orgId === linked) ? linked : null;
}

/** Returns a function that loads all data about a topic again. */
export function useRefresh(): (topic: Topic) => Promise<void> {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return (topic) => queryClient.invalidateQueries({ queryKey: topicKey(orgId, topic) });
}
