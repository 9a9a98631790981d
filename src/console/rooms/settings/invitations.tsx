import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { change, invitationsQuery } from '#console/api/organization.ts';
import { topicKey } from '#console/api/queries.ts';
import { Card, Row } from '#console/parts/card.tsx';
import { Failure } from '#console/parts/failure.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Status } from '#console/parts/status.tsx';
import { tellFailed } from '#console/parts/tell.tsx';
import classes from '#console/rooms/settings/invitations.module.css';
import { useHere } from '#console/shell/organization.tsx';

/** Who was invited and has not come yet. */
export function Invitations() {
  const { org } = useHere();
  const queryClient = useQueryClient();
  const { data, error } = useQuery(invitationsQuery(org.orgId));
  const revoking = useMutation({
    mutationFn: (invitationId: string) => change(org.orgId, 'DELETE', `invitations/${invitationId}`),
    onError: (cause) => tellFailed('The invitation still stands', cause),
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') }),
  });
  if (error !== null) return <Failure error={error} title="Invitations could not be loaded" />;
  const open = data?.invitations.filter(({ status }) => status !== 'accepted') ?? [];
  if (open.length === 0) return null;
  return (
    <div className={classes.section}>
      <Card
        title="Invited"
        rows={open.map(({ invitationId, email, role, invitedBy, expiresAt, status }) => (
          <Row
            key={invitationId}
            title={email}
            sub={
              <>
                as {role}
                {invitedBy !== null && `, by ${invitedBy}`}, {status === 'expired' ? 'expired' : 'expires'}{' '}
                <Moment at={expiresAt} />
              </>
            }
          >
            <Status tone={status === 'expired' ? 'gray' : 'blue'}>{status}</Status>
            <Button
              size="xs"
              variant="subtle"
              color="red"
              onClick={() => revoking.mutate(invitationId)}
              loading={revoking.isPending && revoking.variables === invitationId}
              aria-label={`Take back the invitation of ${email}`}
            >
              Take back
            </Button>
          </Row>
        ))}
      />
    </div>
  );
}
