import { Text } from '@mantine/core';
import { useState } from 'react';

import type { TeamDetails } from '#console/api/teams.ts';
import { TextButton } from '#console/components/buttons.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { named } from '#console/components/text/name.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const InviteMember = lazyDialog(() => import('#console/pages/settings/invite_member.tsx').then((m) => m.InviteMember));

interface AddMemberProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

export function AddMember({ team: { teamId, name, members }, onClose }: AddMemberProps) {
  const { isAdmin } = useOrganization();
  const [isInviting, setIsInviting] = useState(false);
  if (isInviting) return <InviteMember teamId={teamId} onClose={onClose} />;
  return (
    <MembershipDialog
      title={named`Add a member to ${name}`}
      chosen={{ teamId }}
      asked={{ name: 'userId', fault: 'Choose somebody' }}
      teamNameOf={() => name}
      onClose={onClose}
      field={(form) => (
        <div>
          <PersonPicker
            value={form.values.userId === '' ? null : form.values.userId}
            onChange={(userId) => form.setFieldValue('userId', userId ?? '')}
            label="Person"
            placeholder="Type a name"
            leftOut={members.map(({ userId }) => userId)}
            hasMail
            error={form.errors['userId']}
            nothingFound="Nobody else in the organization has this name."
            isFocused
          />
          <Text size="sm" c="dimmed" mt={6}>
            Not in the organization yet?{' '}
            {isAdmin ? (
              <TextButton onClick={() => setIsInviting(true)}>Invite them into this team</TextButton>
            ) : (
              'Ask an admin to invite them into this team.'
            )}
          </Text>
        </div>
      )}
    />
  );
}
