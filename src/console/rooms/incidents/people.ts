import { useQuery } from '@tanstack/react-query';

import { membersQuery } from '#console/api/organization.ts';
import { isolated } from '#console/parts/isolated.ts';
import { useHere } from '#console/shell/organization.tsx';

/** Names of the organization's people by their ids. */
export function useNames(): (userId: string) => string {
  const { org, session } = useHere();
  const { data } = useQuery({ ...membersQuery(org.orgId), staleTime: 5 * 60_000 });
  return (userId) => {
    if (userId === session.user.userId) return 'you';
    const name = data?.members.find((member) => member.userId === userId)?.name;
    return name === undefined ? 'somebody who has left' : isolated(name);
  };
}
