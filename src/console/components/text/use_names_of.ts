import { keepPreviousData, useQueries } from '@tanstack/react-query';

import { membersQuery } from '#console/api/organization.ts';
import { isUnreached } from '#console/components/text/role.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Most ids in one request. */
const IDS_MAX = 200;
const STALE_AFTER_MS = 5 * 60_000;

/** Names of members by their ids. */
export interface Names {
  /** Returns the name; undefined if it is not loaded yet, or if nobody of the organization has this id. */
  nameOf(userId: string): string | undefined;
  /** Returns the number of their colour; undefined likewise. */
  colorOf(userId: string): number | undefined;
  /** Whether nothing reaches a member in any of their teams; false if it is not loaded yet. */
  isUnreached(userId: string): boolean;
  /** Whether names are missing: those that could not be read are no former members'. */
  readonly isLoading: boolean;
}

export function useNamesOf(userIds: readonly string[]): Names {
  const { orgId } = useOrganization().org;
  const ids = [...new Set(userIds)].toSorted();
  const parts = Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, index) =>
    ids.slice(index * IDS_MAX, (index + 1) * IDS_MAX),
  );
  const answers = useQueries({
    queries: parts.map((part) => ({
      ...membersQuery(orgId, { userIds: part, limit: IDS_MAX }),
      staleTime: STALE_AFTER_MS,
      placeholderData: keepPreviousData,
    })),
  });
  const members = new Map(
    answers.flatMap(({ data }) => data?.members ?? []).map((member) => [member.userId, member] as const),
  );
  return {
    nameOf: (userId) => members.get(userId)?.name,
    colorOf: (userId) => members.get(userId)?.color,
    isUnreached(userId) {
      const member = members.get(userId);
      return member !== undefined && isUnreached(member);
    },
    isLoading: answers.some(({ data, isPlaceholderData }) => data === undefined || isPlaceholderData),
  };
}
