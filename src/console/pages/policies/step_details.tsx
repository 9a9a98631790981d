import { Checkbox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { teamQuery } from '#console/api/teams.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { MultiSelect } from '#console/components/forms/multi_select.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import type { DraftStep } from '#console/pages/policies/policy_draft.ts';
import classes from '#console/pages/policies/policy_editor.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

export interface DetailFaults {
  readonly scheduleIds?: string;
  readonly turn?: string;
  readonly members?: string;
  readonly policyId?: string;
}

interface StepDetailsProps {
  readonly step: DraftStep;
  readonly index: number;
  /** Id of the policy's team; empty until one is chosen. */
  readonly teamId: string;
  readonly faults: DetailFaults;
  onChange(changes: Partial<DraftStep>): void;
}

/** Schedules of the team that a step asks, and whether it pages those on call or those whose turn follows. */
export function OnCallFields({ step, teamId, faults, onChange }: Omit<StepDetailsProps, 'index'>) {
  const { org } = useOrganization();
  const [typed, setTyped] = useState('');
  const { data } = useQuery({ ...teamQuery(org.orgId, teamId), enabled: teamId !== '' });
  const schedules = (data?.schedules ?? []).map(({ scheduleId, name }) => {
    return { value: scheduleId, label: isolateBidi(name) };
  });
  const { scheduleIds } = step;
  const wanted = typed.trim().toLowerCase();
  return (
    <div className={classes.onCall}>
      <MultiSelect
        label="In these schedules"
        placeholder={scheduleIds.length === 0 ? 'All schedules of the team' : ''}
        data-focus="schedules"
        options={schedules.filter(
          ({ value, label }) => !scheduleIds.includes(value) && label.toLowerCase().includes(wanted),
        )}
        chosen={scheduleIds.map(
          (id) =>
            schedules.find(({ value }) => value === id) ?? { value: id, label: data === undefined ? '…' : 'Deleted' },
        )}
        onChange={(ids) => onChange({ scheduleIds: ids })}
        typed={typed}
        onSearch={setTyped}
        emptyText={schedules.length === 0 ? 'The team has no schedule' : 'No schedule has this name'}
        error={faults.scheduleIds}
      />
      <Checkbox
        data-focus="next"
        label="Not they, but whose turn follows"
        checked={step.isNext}
        onChange={(event) => onChange({ isNext: event.currentTarget.checked })}
        error={faults.turn}
      />
    </div>
  );
}

/** Further targets of a step, behind a heading that opens them. */
export function MoreFields({ step, index, faults, onChange }: Omit<StepDetailsProps, 'teamId'>) {
  const { pagedTeamId, isInTurn, policyId, needsEverybody } = step;
  const isUsed = pagedTeamId !== null || policyId !== null || needsEverybody;
  const [isOpen, setIsOpen] = useState(isUsed);
  const hasFault = faults.members !== undefined || faults.policyId !== undefined;
  return (
    <details
      className={classes.more}
      open={isOpen || hasFault}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary data-focus="more">More</summary>
      <div className={classes.moreFields}>
        {policyId === null && (
          <>
            <TeamPicker
              label="A whole team"
              placeholder="No team"
              value={pagedTeamId}
              onChange={(id) => onChange({ pagedTeamId: id, ...(id === null && { isInTurn: false }) })}
              error={faults.members}
            />
            {index === 0 && pagedTeamId !== null && (
              <Checkbox
                label="One of them, another with each incident"
                checked={isInTurn}
                onChange={(event) => onChange({ isInTurn: event.currentTarget.checked })}
              />
            )}
            <Checkbox
              label="Everybody on this step must acknowledge"
              description="An acknowledgement then stops the messages of that person only."
              checked={needsEverybody}
              onChange={(event) => onChange({ needsEverybody: event.currentTarget.checked })}
            />
          </>
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
