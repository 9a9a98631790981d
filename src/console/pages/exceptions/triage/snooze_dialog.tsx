import { NumberInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useSnooze } from '#console/pages/exceptions/triage/use_set_status.ts';
import { readLocalField } from '#console/pages/oncall/local_time.ts';
import { SNOOZE_COUNT_MAX } from '#modules/exceptions/decide/group_status.ts';

interface SnoozeDialogProps {
  readonly groupIds: readonly string[];
  readonly onClose: (isDone: boolean) => void;
}

const LABELS = { until: 'Until', events: 'Further events', users: 'Users' };

const EMPTY = { until: '', events: '' as number | string, users: '' as number | string };

/** Dialog that snoozes exceptions until a time, a number of events or a number of users. */
export function SnoozeDialog({ groupIds, onClose }: SnoozeDialogProps) {
  const [values, setValues, draft] = useDraftState({
    form: `snooze_exceptions ${groupIds.toSorted().join(' ')}`,
    base: EMPTY,
  });
  const [fault, setFault] = useState<string | null>(null);
  const snoozing = useSnooze();
  const set = (change: Partial<typeof EMPTY>): void => {
    setFault(null);
    setValues({ ...values, ...change });
  };
  const faults = faultsAtFields(snoozing.error, values);
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    const at = values.until === '' ? null : readLocalField(values.until);
    const [events, users] = [values.events, values.users].map((value) => (value === '' ? null : Number(value)));
    if (at !== null && at <= serverNow()) return setFault('Choose a time in the future.');
    if (at === null && events === null && users === null) {
      return setFault('Say until when: a time, a number of events or a number of users.');
    }
    snoozing.mutate(
      {
        groupIds,
        ...(at !== null && { until: new Date(at).toISOString() }),
        ...(events != null && { events }),
        ...(users != null && { users }),
      },
      {
        onSuccess() {
          draft.done();
          onClose(true);
        },
      },
    );
  };
  return (
    <Dialog
      onClose={() => onClose(false)}
      title={groupIds.length === 1 ? 'Snooze' : `Snooze ${countText(groupIds.length, 'exception')}`}
    >
      <Form error={snoozing.error} draft={draft} onSubmit={submit}>
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          <Text size="sm">
            Ignored until the first of these. Then unresolved again, and you are told by mail. Leave empty what does not
            matter.
          </Text>
          <TimeField
            label="Until"
            value={values.until}
            onChange={(value) => set({ until: value })}
            error={fault ?? faults['until']}
            data-autofocus
          />
          <NumberInput
            label="Or after this many more events"
            value={values.events}
            onChange={(events) => set({ events })}
            min={1}
            max={SNOOZE_COUNT_MAX}
            allowDecimal={false}
            error={faults['events']}
          />
          <NumberInput
            label="Or once more events have concerned this many users"
            value={values.users}
            onChange={(users) => set({ users })}
            min={1}
            max={SNOOZE_COUNT_MAX}
            allowDecimal={false}
            error={faults['users']}
          />
          {snoozing.isError && <ErrorAlert title="Nothing was snoozed" error={snoozing.error} atFields={values} />}
          <SubmitButtons label="Snooze" isPending={snoozing.isPending} onCancel={() => onClose(false)} />
        </Stack>
      </Form>
    </Dialog>
  );
}
