import { Checkbox, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { invitationsQuery } from '#console/api/organization.ts';
import { TextButton } from '#console/components/buttons.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { showError } from '#console/components/notice.tsx';
import { Name } from '#console/components/text/name.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const InviteMember = lazyDialog(() => import('#console/pages/settings/invite_member.tsx').then((m) => m.InviteMember));

interface JoinTeamProps {
  /** People who take turns and are no members of the team. */
  readonly strangers: readonly string[];
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** Choice to make those who take turns members of the team; nothing where all are. */
export function JoinTeam({ strangers, isChecked, onChange }: JoinTeamProps) {
  if (strangers.length === 0) return null;
  return (
    <Checkbox
      label="Make everybody who takes turns a member of the team"
      description="Members are also paged with the whole team."
      checked={isChecked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
}

/** Line that leads to an invitation those who miss somebody in a picker. */
export function InviteInstead({ teamId }: { readonly teamId: string }) {
  const { isAdmin } = useOrganization();
  const [isInviting, setIsInviting] = useState(false);
  return (
    // What the dialog sends is not the form around the picker.
    <Text size="xs" c="dimmed" mt={6} component="div" onSubmit={(event) => event.stopPropagation()}>
      Not in the organization yet?{' '}
      {isAdmin ? (
        <>
          <TextButton onClick={() => setIsInviting(true)}>Invite them</TextButton>: they can take turns after accepting,
          and what you have entered here is kept until then.
        </>
      ) : (
        'Ask an admin to invite them.'
      )}
      {isInviting && <InviteMember {...(teamId !== '' && { teamId })} onClose={() => setIsInviting(false)} />}
    </Text>
  );
}

/** Line on people who were invited into the team and have not accepted, for those who may see invitations. */
export function InvitedIntoTeam({ teamId }: { readonly teamId: string }) {
  const { org, isAdmin } = useOrganization();
  const { data } = useInfiniteQuery({ ...invitationsQuery(org.orgId), enabled: isAdmin });
  const invited = (data?.pages ?? [])
    .flatMap(({ invitations }) => invitations)
    .filter(({ status, teamIds }) => status === 'pending' && teamIds.includes(teamId));
  if (invited.length === 0) return null;
  return (
    <Text size="sm" c="dimmed" mb="xs">
      Invited, and here once they have accepted: <Name>{invited.map(({ email }) => email).join(', ')}</Name>
    </Text>
  );
}

export function showNotJoined(error: unknown): void {
  showError('Not everybody became a member of the team', error);
}
