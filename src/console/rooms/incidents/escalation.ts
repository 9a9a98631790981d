import { useQuery } from '@tanstack/react-query';

import type { Incident, Team } from '#console/api/actions.ts';
import { teamsQuery } from '#console/api/queries.ts';
import { useHere } from '#console/shell/organization.tsx';

type Policy = Team['escalationPolicies'][number];

/** The policy that an incident follows, and its team; null once it was deleted. */
export function usePolicy(policyId: string | null): { policy: Policy; team: Team } | null {
  const { data } = useQuery({ ...teamsQuery(useHere().org.orgId), staleTime: 60_000 });
  for (const team of data?.teams ?? []) {
    const policy = team.escalationPolicies.find((candidate) => candidate.policyId === policyId);
    if (policy !== undefined) return { policy, team };
  }
  return null;
}

/** Where an incident stands in a few words: `step 1 of 3`. */
export function stepText({ escalation }: Pick<Incident, 'escalation'>, stepsInAll: number | null): string | null {
  const { state, nextStep } = escalation;
  switch (state) {
    case 'none':
      return 'pages nobody';
    case 'paused':
      return 'paused';
    case 'finished':
      return stepsInAll === null ? 'all steps done' : `step ${stepsInAll} of ${stepsInAll}`;
    case 'running': {
      const of = stepsInAll === null || stepsInAll < (nextStep ?? 0) ? '' : ` of ${stepsInAll}`;
      return nextStep === 0 ? `before step 1${of}` : `step ${nextStep}${of}`;
    }
  }
}
