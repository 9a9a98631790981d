import { useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';

interface ChooseLeadProps {
  readonly incident: IncidentWithLog;
  readonly onClose: () => void;
}

export function ChooseLead({ incident: { incidentId, number, commanderId }, onClose }: ChooseLeadProps) {
  const [userId, setUserId] = useState<string | null>(null);
  const [isMissing, setIsMissing] = useState(false);
  const leading = useIncidentChange('set_incident_commander', incidentId);
  return (
    <FormDialog
      onClose={onClose}
      title={`Who leads #${number}`}
      saving={leading}
      failure="Who leads was not changed"
      atFields={{ userId }}
      submit="Let them lead"
      onSubmit={() => {
        setIsMissing(userId === null);
        if (userId === null) return;
        leading.mutate(
          { incidentId, userId, seen: commanderId },
          {
            onSuccess() {
              showSuccess(commanderId === null ? 'The response has a lead.' : 'Who leads the response is changed.');
              onClose();
            },
          },
        );
      }}
    >
      <PersonPicker
        label="Person"
        placeholder="Type a name"
        leftOut={commanderId === null ? [] : [commanderId]}
        value={userId}
        onChange={setUserId}
        error={isMissing ? 'Choose who leads' : faultsAtFields(leading.error, { userId })['userId']}
        isFocused
      />
    </FormDialog>
  );
}
