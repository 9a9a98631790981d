import { Stack } from '@mantine/core';
import { useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';

interface HandOverProps {
  readonly incident: IncidentWithLog;
  readonly onClose: () => void;
}

/** Dialog that chooses who leads the response. */
export function HandOver({ incident: { incidentId, number, commanderId }, onClose }: HandOverProps) {
  const [userId, setUserId] = useState<string | null>(null);
  const [isMissing, setIsMissing] = useState(false);
  const leading = useIncidentChange('set_incident_commander', incidentId);
  return (
    <Dialog onClose={onClose} title={`Who leads #${number}`}>
      <Form
        error={leading.error}
        onSubmit={(event) => {
          event.preventDefault();
          setIsMissing(userId === null);
          if (userId === null) return;
          leading.mutate(
            { incidentId, userId, seen: commanderId },
            {
              onSuccess() {
                showSuccess('Who leads the response is changed.');
                onClose();
              },
            },
          );
        }}
      >
        <Stack>
          <PersonPicker
            label="Person"
            placeholder="Type a name"
            leftOut={commanderId === null ? [] : [commanderId]}
            value={userId}
            onChange={setUserId}
            error={isMissing ? 'Choose who leads' : faultsAtFields(leading.error, { userId })['userId']}
            isFocused
          />
          {leading.isError && (
            <ErrorAlert title="Who leads was not changed" error={leading.error} atFields={{ userId }} />
          )}
          <SubmitButtons label="Hand over" isPending={leading.isPending} onCancel={onClose} />
        </Stack>
      </Form>
    </Dialog>
  );
}
