import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { teamsQuery } from '#console/api/queries.ts';
import type { PersonWithoutTeam } from '#console/api/team_pages.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { named } from '#console/components/name.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface AddToTeamProps {
  readonly person: PersonWithoutTeam;
  readonly onClose: () => void;
}

/** Adds somebody who is in no team to one. */
export function AddToTeam({ person: { userId, name }, onClose }: AddToTeamProps) {
  const teams = useQuery(teamsQuery(useOrganization().org.orgId)).data?.teams ?? [];
  const options = teams.map(({ teamId, name: teamName }) => ({ value: teamId, label: isolateBidi(teamName) }));
  return (
    <MembershipDialog
      title={named`Add ${name} to a team`}
      chosen={{ userId }}
      asked={{ name: 'teamId', fault: 'Choose a team' }}
      teamNameOf={(teamId) => teams.find((team) => team.teamId === teamId)?.name ?? 'the team'}
      onClose={onClose}
      field={(form) => (
        <NativeSelect
          {...form.getInputProps('teamId')}
          label="Team"
          data={[{ value: '', label: teams.length === 0 ? 'There is no team yet' : 'Choose a team' }, ...options]}
          data-autofocus
        />
      )}
    />
  );
}
