import { Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface CalendarCardProps {
  readonly scheduleId: string;
  readonly name: string;
}

/** Card of the secret address where calendar programs read the schedule. The audit log records each view of it. */
export function CalendarCard({ scheduleId, name }: CalendarCardProps) {
  const { org, may } = useOrganization();
  const [url, setUrl] = useState<string | null | undefined>(undefined);
  const [isRevoking, setIsRevoking] = useState(false);
  const { orgId } = org;
  const showing = useMutation({
    mutationFn: () => invoke(orgId, 'get_calendar_feed', { scheduleId }),
    onSuccess: (feed) => setUrl(feed.url),
  });
  const creating = useMutation({
    mutationFn: () => invoke(orgId, 'create_calendar_feed', { scheduleId }),
    onSuccess: (feed) => setUrl(feed.url),
  });
  const revoking = useMutation({
    mutationFn: () => invoke(orgId, 'revoke_calendar_feed', { scheduleId }),
    onSuccess() {
      setUrl(null);
      setIsRevoking(false);
      showSuccess(named`No calendar reads ${name} any more.`);
    },
  });
  const mayEdit = may('oncall:edit');
  const error = showing.error ?? creating.error;
  return (
    <Card
      title="Calendar"
      about="Calendar programs show this schedule from a secret address of your own. Everyone who knows it can read the schedule. It stops working when you leave."
    >
      {typeof url === 'string' && <CopyField label="Address for your calendar" value={url} />}
      {url === null && !mayEdit && <p>You have no address, and your role may not create one.</p>}
      {url === null && mayEdit && <p>You have no address yet.</p>}
      {error !== null && <ErrorAlert title="There is no address" error={error} />}
      <Group mt="sm">
        {url === undefined && (
          <Button variant="default" onClick={() => showing.mutate()} loading={showing.isPending}>
            Show your address
          </Button>
        )}
        {url === null && mayEdit && (
          <Button variant="default" onClick={() => creating.mutate()} loading={creating.isPending}>
            Create an address
          </Button>
        )}
        {typeof url === 'string' && mayEdit && (
          <Button variant="default" onClick={() => setIsRevoking(true)}>
            Revoke all addresses
          </Button>
        )}
      </Group>
      {isRevoking && (
        <Confirm
          title={named`Revoke the calendar addresses of ${name}?`}
          button="Revoke"
          isPending={revoking.isPending}
          error={revoking.error}
          onConfirm={() => revoking.mutate()}
          onClose={() => setIsRevoking(false)}
        >
          The addresses of everybody stop working immediately, and calendars show nothing new. It cannot be undone, but
          everybody can create a new address.
        </Confirm>
      )}
    </Card>
  );
}
