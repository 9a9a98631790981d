import type { TeamDetails } from '#console/api/teams.ts';
import { named } from '#console/components/text/name.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { MembershipDialog } from '#console/pages/oncall_teams/membership_dialog.tsx';

interface AddMemberProps {
  readonly team: TeamDetails;
  readonly onClose: () => void;
}

/** Dialog that adds anybody of the organization to the team. */
export function AddMember({ team: { teamId, name, members }, onClose }: AddMemberProps) {
  return (
    <MembershipDialog
      title={named`Add a member to ${name}`}
      chosen={{ teamId }}
      asked={{ name: 'userId', fault: 'Choose somebody' }}
      teamNameOf={() => name}
      onClose={onClose}
      field={(form) => (
        <PersonPicker
          value={form.values.userId === '' ? null : form.values.userId}
          onChange={(userId) => form.setFieldValue('userId', userId ?? '')}
          label="Person"
          placeholder="Type a name"
          leftOut={members.map(({ userId }) => userId)}
          hasMail
          error={form.errors['userId']}
          nothingFound="Nobody else has this name. Invite them in the settings first."
          isFocused
        />
      )}
    />
  );
}
