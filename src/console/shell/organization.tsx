import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

import { type Organization, type Session, sessionQuery } from '#console/api/session.ts';

interface OrganizationContextValue {
  readonly session: Session;
  readonly org: Organization;
  /** Whether the person may do what needs this permission; the server decides, this only spares them the attempt. */
  may(permission: string): boolean;
  readonly isAdmin: boolean;
  enter(orgId: string): void;
}

const OrganizationContext = createContext<OrganizationContextValue | null>(null);

const REMEMBERED = 'tocsin-organization';

/** The organization that the person looks at; the device remembers it. */
export function OrganizationProvider({
  children,
  without,
}: {
  readonly children: ReactNode;
  /** Shown to somebody who belongs to no organization any more. */
  readonly without: ReactNode;
}) {
  const { data: session } = useSuspenseQuery(sessionQuery);
  const queryClient = useQueryClient();
  const [wanted, setWanted] = useState(() => localStorage.getItem(REMEMBERED));
  const org = session?.organizations.find(({ orgId }) => orgId === wanted) ?? session?.organizations[0];
  const here = useMemo(() => {
    if (!session || org === undefined) return null;
    return {
      session,
      org,
      may: (permission: string) => org.permissions.some((held) => held === permission),
      isAdmin: org.role === 'owner' || org.role === 'admin',
      enter(orgId: string) {
        localStorage.setItem(REMEMBERED, orgId);
        setWanted(orgId);
        queryClient.removeQueries({ queryKey: ['org', org.orgId] });
      },
    };
  }, [session, org, queryClient]);
  if (!session) return null;
  if (here === null) return without;
  return <OrganizationContext value={here}>{children}</OrganizationContext>;
}

export function useOrganization(): OrganizationContextValue {
  const here = useContext(OrganizationContext);
  if (here === null) throw new Error('this is shown within an organization only');
  return here;
}
