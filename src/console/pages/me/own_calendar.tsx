import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const TITLE = 'Your shifts in your calendar';

/**
 * Dialog with the address of the person's calendar. Each call that shows it is recorded in the audit log, so it is
 * shown only on a click.
 */
export function OwnCalendar({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  /** Address; undefined: not requested yet; null: there is none. */
  const [url, setUrl] = useState<string | null | undefined>(undefined);
  const [asked, setAsked] = useState<'renew' | 'revoke' | null>(null);
  const showing = useMutation({
    mutationFn: () => invoke(orgId, 'get_own_calendar', {}),
    onSuccess: ({ calendar }) => setUrl(calendar?.url ?? null),
  });
  const renewing = useMutation({
    mutationFn: () => invoke(orgId, 'renew_own_calendar', {}),
    onSuccess(calendar) {
      setUrl(calendar.url);
      setAsked(null);
    },
  });
  const revoking = useMutation({
    mutationFn: () => invoke(orgId, 'revoke_own_calendar', {}),
    onSuccess() {
      showSuccess('The address of your shifts no longer works.');
      onClose();
    },
  });
  if (asked === 'renew') {
    return (
      <Confirm
        title="Make a new address?"
        button="Make a new address"
        saving={renewing}
        onConfirm={() => renewing.mutate()}
        onClose={() => setAsked(null)}
      >
        The current address stops working immediately. Calendars that read it show nothing new until you give them the
        new one.
      </Confirm>
    );
  }
  if (asked === 'revoke') {
    return (
      <Confirm
        title="Revoke the address?"
        button="Revoke"
        saving={revoking}
        onConfirm={() => revoking.mutate()}
        onClose={() => setAsked(null)}
      >
        It stops working immediately. You can make a new one at any time.
      </Confirm>
    );
  }
  return (
    <Dialog onClose={onClose} title={TITLE}>
      <Stack>
        <Text size="sm">
          Subscribe to this secret address in your calendar program. It shows your shifts of every schedule and follows
          each change within the hour. Whoever knows the address can read your shifts. It stops working when you leave.
        </Text>
        {typeof url === 'string' && <CopyField label="Address of your shifts" value={url} />}
        {url === null && <Text size="sm">You have no address yet.</Text>}
        {showing.isError && <ErrorAlert title="The address could not be shown" error={showing.error} />}
        {renewing.isError && <ErrorAlert title="There is no address" error={renewing.error} />}
        <Group justify="flex-end">
          {url === undefined && (
            <Button onClick={() => showing.mutate()} loading={showing.isPending}>
              Show your address
            </Button>
          )}
          {url === null && (
            <Button onClick={() => renewing.mutate()} loading={renewing.isPending}>
              Create an address
            </Button>
          )}
          {typeof url === 'string' && (
            <>
              <Button variant="default" onClick={() => setAsked('renew')}>
                New address
              </Button>
              <Button color="red" variant="light" onClick={() => setAsked('revoke')}>
                Revoke
              </Button>
            </>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
