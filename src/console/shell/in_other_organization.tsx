import { Skeleton } from '@mantine/core';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';

import { useOrganization } from '#console/shell/organization.tsx';

/**
 * Notice that another organization of the person has what the address names, if they copied it there; `children` if
 * none of them has it. `find` reads it: null or an error means that it is not there.
 */
export function InOtherOrganization({
  find,
  children,
}: {
  readonly find: (queryClient: QueryClient, orgId: string) => Promise<unknown>;
  readonly children: ReactNode;
}) {
  const { org, session, switchTo } = useOrganization();
  const queryClient = useQueryClient();
  const { pathname } = useLocation();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  const { data: otherOrganization = null, isPending } = useQuery({
    queryKey: ['other organizations', org.orgId, pathname],
    queryFn: async (): Promise<string | null> => {
      const answers = await Promise.allSettled(others.map(async ({ orgId }) => await find(queryClient, orgId)));
      const index = answers.findIndex((answer) => answer.status === 'fulfilled' && answer.value !== null);
      return others[index]?.orgId ?? null;
    },
    enabled: others.length > 0,
  });
  useEffect(() => {
    if (otherOrganization !== null) switchTo(otherOrganization);
  }, [otherOrganization, switchTo]);
  if (otherOrganization !== null || (isPending && others.length > 0)) return <Skeleton height={240} radius="lg" />;
  return children;
}
