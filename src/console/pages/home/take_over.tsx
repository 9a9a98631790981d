import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import type { HomeSchedule } from '#console/api/home.ts';
import { serverNow } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { named } from '#console/components/text/name.tsx';
import { showUndoable } from '#console/components/notice.tsx';
import { dateTimeText } from '#console/components/text/time_text.ts';
import { useRemoveOverride } from '#console/pages/oncall/override/use_put_on_call.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const HOURS = [1, 2, 4, 8, 12, 24];

/** Dialog that creates an override for oneself that starts now. */
export function TakeOver({ schedule, onClose }: { readonly schedule: HomeSchedule; readonly onClose: () => void }) {
  const { org, session } = useOrganization();
  const refresh = useRefresh();
  const { scheduleId, name, onCall, until } = schedule;
  const removing = useRemoveOverride(name);
  const [end, setEnd] = useState(until === null ? '4' : 'shift');
  const taking = useMutation({
    mutationFn: () => {
      const startAt = new Date(serverNow()).toISOString();
      const endAt =
        end === 'shift' && until !== null ? until : new Date(serverNow() + Number(end) * 3_600_000).toISOString();
      return invoke(org.orgId, 'create_schedule_override', { scheduleId, userId: session.user.userId, startAt, endAt });
    },
    async onSuccess({ overrideId, endAt }) {
      showUndoable(named`You are on call in ${name} until ${dateTimeText(endAt)}.`, () => removing.mutate(overrideId));
      onClose();
      await refresh('teams');
    },
  });
  return (
    <Dialog onClose={onClose} title={named`Take over ${name}`}>
      <Stack>
        <Text size="sm">
          {onCall === null ? 'Nobody is on call' : named`${onCall.name} is on call`}
          {until !== null && ` until ${dateTimeText(until)}`}. You will be paged instead.
        </Text>
        <NativeSelect
          label="How long"
          value={end}
          onChange={(event) => setEnd(event.currentTarget.value)}
          data={[
            ...(until === null ? [] : [{ value: 'shift', label: 'Until the end of this shift' }]),
            ...HOURS.map((hours) => ({
              value: String(hours),
              label: `For ${hours} ${hours === 1 ? 'hour' : 'hours'}`,
            })),
          ]}
        />
        {taking.isError && <ErrorAlert title="You are not on call yet" error={taking.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button onClick={() => taking.mutate()} loading={taking.isPending}>
            Take over
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
