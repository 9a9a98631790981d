import { Button } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { Fragment, useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { type Invited, invitationsQuery } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { useTeamName } from '#console/components/forms/team_picker.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import classes from '#console/pages/settings/invitations.module.css';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const InviteMember = lazyDialog(() => import('#console/pages/settings/invite_member.tsx').then((m) => m.InviteMember));

/** Card of invitations that nobody has accepted yet. */
export function Invitations() {
  const { org } = useOrganization();
  const list = useInfiniteQuery(invitationsQuery(org.orgId));
  const { data, error } = list;
  const [revoked, setRevoked] = useState<Invited | null>(null);
  const [changed, setChanged] = useState<Invited | null>(null);
  if (error !== null && data === undefined) return <ErrorAlert error={error} title="Invitations could not be loaded" />;
  const open = data?.pages.flatMap(({ invitations }) => invitations) ?? [];
  if (open.length === 0) return null;
  return (
    <div className={classes.section}>
      <Card
        anchor="invited"
        title="Invited"
        rows={open.map((invitation) => (
          <InvitationRow
            key={invitation.invitationId}
            invitation={invitation}
            onChange={() => setChanged(invitation)}
            onRevoke={() => setRevoked(invitation)}
          />
        ))}
      />
      <LoadMore list={list} />
      {changed !== null && (
        <InviteMember
          pending={{ email: changed.email, role: changed.role, roles: {}, teamIds: changed.teamIds }}
          onClose={() => setChanged(null)}
        />
      )}
      {revoked !== null && <Revoke invitation={revoked} onClose={() => setRevoked(null)} />}
    </div>
  );
}

interface InvitationRowProps {
  readonly invitation: Invited;
  readonly onChange: () => void;
  readonly onRevoke: () => void;
}

function InvitationRow({ invitation, onChange, onRevoke }: InvitationRowProps) {
  const { email, role, teamIds, invitedBy, expiresAt, status } = invitation;
  return (
    <Row
      title={<Name>{email}</Name>}
      sub={
        <>
          as {role}
          {teamIds.map((teamId, place) => (
            <Fragment key={teamId}>
              {place === 0 ? ', in ' : ' and '}
              <TeamName teamId={teamId} />
            </Fragment>
          ))}
          {invitedBy !== null && named`, by ${invitedBy}`}, {status === 'expired' ? 'expired' : 'expires'}{' '}
          <Timestamp at={expiresAt} />
        </>
      }
    >
      <Status tone={status === 'expired' ? 'gray' : 'blue'}>{status}</Status>
      <Button size="xs" variant="subtle" onClick={onChange} aria-label={`New link or role for ${email}`}>
        New link or role
      </Button>
      <Button
        size="xs"
        variant="subtle"
        color="red"
        onClick={onRevoke}
        aria-label={`Revoke the invitation of ${email}`}
      >
        Revoke
      </Button>
    </Row>
  );
}

function TeamName({ teamId }: { readonly teamId: string }) {
  return <Name>{useTeamName(teamId) ?? 'a team'}</Name>;
}

function Revoke({ invitation, onClose }: { readonly invitation: Invited; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const { invitationId, email } = invitation;
  const revoking = useMutation({
    mutationFn: () => invoke(orgId, 'revoke_invitation', { invitationId }),
    async onSuccess() {
      showSuccess(named`The invitation of ${email} is revoked.`);
      onClose();
      await refresh('settings');
    },
  });
  return (
    <Confirm
      title={named`Revoke the invitation of ${email}?`}
      button="Revoke"
      saving={revoking}
      onConfirm={() => revoking.mutate()}
      onClose={onClose}
    >
      The link stops working immediately. You can invite <Name>{email}</Name> again.
    </Confirm>
  );
}
