import { Checkbox } from '@mantine/core';
import { useState } from 'react';

import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import type { DraftStep } from '#console/pages/policies/policy_draft.ts';
import classes from '#console/pages/policies/policy_editor.module.css';

export interface DetailFaults {
  readonly scheduleIds?: string;
  readonly turn?: string;
  readonly members?: string;
  readonly policyId?: string;
}

interface MoreFieldsProps {
  readonly step: DraftStep;
  readonly faults: DetailFaults;
  onChange(changes: Partial<DraftStep>): void;
}

/** Further fields of a step, behind a heading that opens them. */
export function MoreFields({ step, faults, onChange }: MoreFieldsProps) {
  const { policyId, needsEverybody } = step;
  const isUsed = policyId !== null || needsEverybody;
  const [isOpen, setIsOpen] = useState(isUsed);
  const hasFault = faults.policyId !== undefined;
  return (
    <details
      className={classes.more}
      open={isOpen || hasFault}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary data-focus="more">More</summary>
      <div className={classes.moreFields}>
        {policyId === null && (
          <Checkbox
            label="Everybody on this step must acknowledge"
            description="An acknowledgement then stops the messages of that person only."
            checked={needsEverybody}
            onChange={(event) => onChange({ needsEverybody: event.currentTarget.checked })}
          />
        )}
        <PolicyPicker
          label="Instead, the steps of another policy"
          placeholder="No other policy"
          clearLabel="No other policy"
          description="Its steps count their minutes from this one."
          value={policyId}
          onChange={(id) =>
            onChange(
              id === null
                ? { policyId: null }
                : { policyId: id, pagedTeamId: null, isInTurn: false, needsEverybody: false },
            )
          }
          error={faults.policyId}
        />
      </div>
    </details>
  );
}
