import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';

import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useAssign } from '#console/pages/exceptions/triage/use_assign.ts';

interface AssignDialogProps {
  readonly groupIds: readonly string[];
  readonly onClose: (isDone: boolean) => void;
}

export function AssignDialog({ groupIds, onClose }: AssignDialogProps) {
  const [kind, setKind] = useState<'person' | 'team'>('person');
  const [userId, setUserId] = useState<string | null>(null);
  const [teamId, setTeamId] = useState<string | null>(null);
  const [isMissing, setIsMissing] = useState(false);
  const assigning = useAssign();
  const to = kind === 'person' ? userId && { userId } : teamId && { teamId };
  const faults = faultsAtFields(assigning.error, { 'to.userId': userId, 'to.teamId': teamId });
  const missing = isMissing && to === null ? 'Choose one' : null;
  return (
    <FormDialog
      onClose={() => onClose(false)}
      title={groupIds.length === 1 ? 'Assign' : `Assign ${countText(groupIds.length, 'exception')}`}
      saving={assigning}
      failure="Nothing was assigned"
      atFields={{ 'to.userId': userId, 'to.teamId': teamId }}
      submit="Assign"
      onSubmit={() => {
        setIsMissing(to === null);
        if (to !== null && to !== '') assigning.mutate({ groupIds, to }, { onSuccess: () => onClose(true) });
      }}
    >
      <SegmentedControl
        aria-label="Assign to"
        value={kind}
        onChange={(value) => setKind(value === 'team' ? 'team' : 'person')}
        data={[
          { value: 'person', label: 'A person' },
          { value: 'team', label: 'A team' },
        ]}
      />
      {kind === 'person' ? (
        <PersonPicker
          label="Person"
          placeholder="Type part of a name"
          value={userId}
          onChange={setUserId}
          hasMail
          error={faults['to.userId'] ?? missing}
          isFocused
        />
      ) : (
        <TeamPicker
          label="Team"
          placeholder="Type part of a name"
          isRequired
          value={teamId}
          onChange={setTeamId}
          error={faults['to.teamId'] ?? missing}
          isFocused
        />
      )}
    </FormDialog>
  );
}
