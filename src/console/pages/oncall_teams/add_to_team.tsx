import { useQueryClient } from '@tanstack/react-query';

import type { PersonWithoutTeam } from '#console/api/team_pages.ts';
import { teamNamesQuery } from '#console/api/teams.ts';
import { named } from '#console/components/text/name.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface AddToTeamProps {
  readonly person: PersonWithoutTeam;
  readonly onClose: () => void;
}

/** Dialog that adds somebody who is in no team to one. */
export function AddToTeam({ person: { userId, name }, onClose }: AddToTeamProps) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const teamNameOf = (teamId: string): string => {
    const cachedNames = queryClient.getQueryData(teamNamesQuery(orgId, { teamIds: [teamId] }).queryKey);
    return cachedNames?.teams[0]?.name ?? 'the team';
  };
  return (
    <MembershipDialog
      title={named`Add ${name} to a team`}
      chosen={{ userId }}
      asked={{ name: 'teamId', fault: 'Choose a team' }}
      teamNameOf={teamNameOf}
      onClose={onClose}
      field={(form) => (
        <TeamPicker
          label="Team"
          placeholder="Choose a team"
          isRequired
          isFocused
          value={form.values.teamId === '' ? null : form.values.teamId}
          onChange={(teamId) => form.setFieldValue('teamId', teamId ?? '')}
          error={form.errors['teamId']}
        />
      )}
    />
  );
}
