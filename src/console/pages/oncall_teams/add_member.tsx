import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { teamsQuery } from '#console/api/queries.ts';
import type { TeamDetails } from '#console/api/team_pages.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { named } from '#console/components/name.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** More match than are listed: typing goes on. */
const OPTIONS_MAX = 50;

interface AddMemberProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

/** Adds anybody of the organization to the team. */
export function AddMember({ team: { teamId, name, members }, onClose }: AddMemberProps) {
  const people = useQuery(teamsQuery(useOrganization().org.orgId)).data?.people ?? [];
  const isMember = new Set(members.map(({ userId }) => userId));
  return (
    <MembershipDialog
      title={named`Add a member to ${name}`}
      chosen={{ teamId }}
      asked={{ name: 'userId', fault: 'Choose somebody' }}
      teamNameOf={() => name}
      onClose={onClose}
      field={(form) => (
        <Select
          {...form.getInputProps('userId')}
          value={form.values.userId === '' ? null : form.values.userId}
          onChange={(userId) => form.setFieldValue('userId', userId ?? '')}
          label="Person"
          placeholder="Type a name"
          data={people
            .filter(({ userId }) => !isMember.has(userId))
            .map((person) => ({ value: person.userId, label: isolateBidi(`${person.name} (${person.email})`) }))}
          searchable
          openOnFocus={false}
          selectFirstOptionOnChange
          limit={OPTIONS_MAX}
          nothingFoundMessage="Nobody else has this name. Invite them in the settings first."
          data-autofocus
        />
      )}
    />
  );
}
