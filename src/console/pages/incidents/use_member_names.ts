import { useQuery } from '@tanstack/react-query';

import { membersQuery } from '#console/api/organization.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Names of the members of the organization by their ids. */
export function useMemberNames(): (userId: string) => string {
  const { org, session } = useOrganization();
  const { data } = useQuery({ ...membersQuery(org.orgId), staleTime: 5 * 60_000 });
  return (userId) => {
    if (userId === session.user.userId) return 'you';
    const name = data?.members.find((member) => member.userId === userId)?.name;
    return name === undefined ? 'a former member' : isolateBidi(name);
  };
}
