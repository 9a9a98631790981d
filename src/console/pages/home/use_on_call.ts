import { useQueries, useQuery } from '@tanstack/react-query';

import type { ResultOf } from '#console/api/actions.ts';
import { onCallQuery, teamsQuery } from '#console/api/queries.ts';
import { useOrganization } from '#console/shell/organization.tsx';

export type ScheduleOnCall = ResultOf<'who_is_on_call'>['schedules'][number] & {
  readonly teamId: string;
  readonly teamName: string;
};

/** Every schedule of the organization and who is on call; null while loading. */
export function useOnCall(): { schedules: readonly ScheduleOnCall[]; error: unknown } | null {
  const { orgId } = useOrganization().org;
  const teams = useQuery(teamsQuery(orgId));
  const withSchedules = teams.data?.teams.filter(({ schedules }) => schedules.length > 0) ?? [];
  const answers = useQueries({
    queries: withSchedules.map(({ teamId }) => ({ ...onCallQuery(orgId, teamId), refetchInterval: 60_000 })),
  });
  if (teams.isPending || answers.some(({ isPending }) => isPending)) return null;
  const error = teams.error ?? answers.find((answer) => answer.error !== null)?.error ?? null;
  const schedules = answers.flatMap(({ data }, index) => {
    const { teamId = '', name: teamName = '' } = withSchedules[index] ?? {};
    return (data?.schedules ?? []).map((schedule) => ({ ...schedule, teamId, teamName }));
  });
  return { schedules, error };
}
