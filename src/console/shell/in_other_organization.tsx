import { Skeleton, Stack } from '@mantine/core';
import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';

import { isApiError } from '#console/api/http.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
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

interface NotLoadedProps {
  /** Noun of the page, such as "Team". */
  readonly noun: string;
  readonly icon: ReactNode;
  /** Reason for which it may be gone, as the beginning of a sentence. */
  readonly gone?: string;
  readonly query: { readonly data: unknown; readonly error: unknown; readonly refetch: () => unknown };
  readonly find: (queryClient: QueryClient, orgId: string) => Promise<unknown>;
  /** Heights of what appears when it is loaded. */
  readonly heights: readonly number[];
}

/** Content of a page whose thing is missing (its query failed with 404, or found null), failed to load, or loads. */
export function NotLoaded({ noun, icon, gone = 'It was deleted', query, find, heights }: NotLoadedProps) {
  const { data, error, refetch } = query;
  if (data === null || isApiError(error, 404)) {
    return (
      <InOtherOrganization find={find}>
        <EmptyState icon={icon} title={`${noun} not found`}>
          {gone}, or it belongs to an organization that you are not in.
        </EmptyState>
      </InOtherOrganization>
    );
  }
  if (error !== null) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  return (
    <Stack>
      {heights.map((height, index) => (
        <Skeleton key={index} height={height} radius="lg" />
      ))}
    </Stack>
  );
}
