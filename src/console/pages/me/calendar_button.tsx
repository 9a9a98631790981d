import { Button, Group, Stack, Text } from '@mantine/core';
import { IconCalendar } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import { CopyField } from '#console/components/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

interface CalendarProps {
  readonly scheduleId: string;
  readonly name: string;
}

/** Shows the secret address under which a calendar program reads a schedule. */
export function CalendarButton({ scheduleId, name }: CalendarProps) {
  const { may } = useOrganization();
  const [isOpen, setIsOpen] = useState(false);
  if (!may('oncall:edit')) return null;
  return (
    <>
      <Button variant="default" mt="md" leftSection={<IconCalendar size={16} />} onClick={() => setIsOpen(true)}>
        {named`${name} in your calendar`}
      </Button>
      {isOpen && <CalendarFeed scheduleId={scheduleId} name={name} onClose={() => setIsOpen(false)} />}
    </>
  );
}

function CalendarFeed({ scheduleId, name, onClose }: CalendarProps & { readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  // Each call that shows the address is recorded in the audit log: only on a click.
  const showing = useMutation({ mutationFn: () => invoke(orgId, 'create_calendar_feed', { scheduleId }) });
  const revoking = useMutation({
    mutationFn: () => invoke(orgId, 'revoke_calendar_feed', { scheduleId }),
    async onSuccess() {
      showSuccess(named`The calendar address of ${name} no longer works.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
    },
  });
  return (
    <Dialog onClose={onClose} title={named`${name} in your calendar`}>
      <Stack>
        <Text size="sm">
          Give this secret address to your calendar program as a subscription. It shows who is on call, and follows
          every change within the hour. Anybody who knows the address can read the schedule, until you revoke it.
        </Text>
        {showing.data !== undefined && <CopyField label="Calendar address" value={showing.data.url} />}
        {showing.isError && <ErrorAlert title="The address could not be shown" error={showing.error} />}
        {revoking.isError && <ErrorAlert title="The address still works" error={revoking.error} />}
        <Group justify="flex-end">
          {showing.data === undefined ? (
            <Button onClick={() => showing.mutate()} loading={showing.isPending}>
              Show the address
            </Button>
          ) : (
            <Button color="red" variant="light" onClick={() => revoking.mutate()} loading={revoking.isPending}>
              Revoke it
            </Button>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}
