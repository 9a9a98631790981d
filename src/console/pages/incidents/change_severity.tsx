import { Checkbox, NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';

interface ChangeSeverityProps {
  readonly incident: IncidentWithLog;
  readonly onClose: () => void;
}

/** Dialog that changes the severity of an incident, and says whom that pages. */
export function ChangeSeverity({ incident: { incidentId, number, severity, status }, onClose }: ChangeSeverityProps) {
  const before = LEVELS.find((level) => level === severity) ?? 'error';
  const [chosen, setChosen] = useState<(typeof LEVELS)[number]>(before);
  const [pagesAnew, setPagesAnew] = useState(false);
  const changing = useIncidentChange('set_incident_severity', incidentId);
  const isRaised = LEVELS.indexOf(chosen) > LEVELS.indexOf(before);
  const mayPage = isRaised && status === 'triggered';
  return (
    <FormDialog
      onClose={onClose}
      title={`Severity of #${number}`}
      saving={changing}
      failure="The severity was not changed"
      submit="Change"
      onSubmit={() =>
        changing.mutate(
          { incidentId, severity: chosen, pagesAnew: mayPage && pagesAnew },
          {
            onSuccess() {
              showSuccess(`The severity is ${chosen}.`);
              onClose();
            },
          },
        )
      }
    >
      <NativeSelect
        label="Severity"
        value={chosen}
        onChange={(event) => setChosen(LEVELS.find((level) => level === event.currentTarget.value) ?? before)}
        data={[...LEVELS]}
        data-autofocus
      />
      {mayPage && (
        <Checkbox
          label="Page anew from the first step"
          checked={pagesAnew}
          onChange={(event) => setPagesAnew(event.currentTarget.checked)}
        />
      )}
      <Text size="sm" c="dimmed">
        {consequence(isRaised, status)}
      </Text>
    </FormDialog>
  );
}

function consequence(isRaised: boolean, status: IncidentWithLog['status']): string {
  if (!isRaised) return 'A lower severity changes no page that is to come.';
  return status === 'triggered'
    ? 'If its policy waits for its hours and no longer does at this severity, its first step pages at once.'
    : 'Somebody has acknowledged it, so nobody is paged.';
}
