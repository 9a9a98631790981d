import { ActionIcon, Checkbox, Group, NumberInput } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useState } from 'react';

import { teamNamesQuery, teamQuery } from '#console/api/teams.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { SHOWN_CHANNELS } from '#console/components/text/channel.tsx';
import { MultiSelect } from '#console/components/forms/multi_select.tsx';
import { moreOptions, type Option } from '#console/components/forms/option_list.tsx';
import { useTeamName } from '#console/components/forms/team_picker.tsx';
import { onCallLabel } from '#console/components/text/role.ts';
import { useFoundMembers } from '#console/components/forms/person_picker.tsx';
import { Bullet, Step } from '#console/components/forms/steps.tsx';
import type { Names } from '#console/components/text/use_names_of.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import classes from '#console/pages/policies/policy_editor.module.css';
import { IconArrowDown, IconArrowUp, IconTrash } from '#console/icons.ts';
import {
  type DraftStep,
  ON_CALL,
  scheduleTarget,
  targetsOf,
  teamTarget,
  withTargets,
} from '#console/pages/policies/policy_draft.ts';
import type { DetailFaults } from '#console/pages/policies/step_details.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

const MoreFields = lazyPart(() => import('#console/pages/policies/step_details.tsx').then((m) => m.MoreFields));

const TEAMS_MAX = 5;

export interface StepFaults extends DetailFaults {
  readonly afterMinutes?: string;
  readonly channels?: string;
  readonly targetUserIds?: string;
}

interface StepEditorProps {
  readonly step: DraftStep;
  readonly index: number;
  readonly count: number;
  /** Id of the policy's team; empty until one is chosen. */
  readonly teamId: string;
  readonly names: Names;
  readonly faults: StepFaults;
  readonly isOutOfOrder: boolean;
  onChange(changes: Partial<DraftStep>): void;
  /** Called to move the step; `field` names the focused field, which gets the focus again. */
  onMove(by: 1 | -1, field: string): void;
  onRemove(): void;
}

/** Editor of one step: its delay, people and channels. */
export function StepEditor(props: StepEditorProps) {
  const { step, index, count, teamId, names, faults, isOutOfOrder, onChange, onMove, onRemove } = props;
  const moveByKey = (event: KeyboardEvent): void => {
    if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
    event.preventDefault();
    event.stopPropagation();
    const focused = document.activeElement?.closest<HTMLElement>('[data-focus]')?.dataset['focus'];
    onMove(event.key === 'ArrowUp' ? -1 : 1, focused ?? 'people');
  };
  return (
    <Step data-step={step.key} onKeyDownCapture={moveByKey}>
      <Bullet tone="blue" className={classes.bullet}>
        {index + 1}
      </Bullet>
      <div className={`${classes.fields} panel shrinks`} role="group" aria-label={`Step ${index + 1}`}>
        <div className={classes.line}>
          <NumberInput
            label="Minutes after the trigger"
            data-focus="minutes"
            value={step.afterMinutes}
            onChange={(value) => onChange({ afterMinutes: typeof value === 'number' ? value : '' })}
            onFocus={(event) => event.currentTarget.select()}
            allowDecimal={false}
            allowNegative={false}
            max={Number.MAX_SAFE_INTEGER}
            hideControls
            error={faults.afterMinutes}
          />
          {step.policyId === null && (
            <StepTargets step={step} teamId={teamId} names={names} faults={faults} onChange={onChange} />
          )}
        </div>
        {isOutOfOrder && <p className={`${classes.hint} small flush`}>Fires before a step that stands above it.</p>}
        {step.policyId === null && step.useSchedule && (
          <Checkbox
            data-focus="next"
            label="Not who is on call, but whose turn follows"
            checked={step.isNext}
            onChange={(event) => onChange({ isNext: event.currentTarget.checked })}
            error={faults.turn}
          />
        )}
        {step.policyId === null && step.pagedTeamId !== null && (index === 0 || step.isInTurn) && (
          <Checkbox
            data-focus="in_turn"
            label="One member of the team, another with each incident"
            checked={step.isInTurn}
            onChange={(event) => onChange({ isInTurn: event.currentTarget.checked })}
          />
        )}
        <Checkbox.Group
          label="By"
          value={[...step.channels]}
          onChange={(values) => onChange({ channels: SHOWN_CHANNELS.filter((channel) => values.includes(channel)) })}
          error={faults.channels}
        >
          <Group gap="0.25rem 1.25rem" mt={4}>
            {SHOWN_CHANNELS.map((channel) => (
              <Checkbox
                key={channel}
                value={channel}
                data-focus={channel}
                aria-invalid={faults.channels === undefined ? undefined : true}
                label={CHANNEL_DECLARATIONS[channel].title}
              />
            ))}
          </Group>
        </Checkbox.Group>
        <MoreFields step={step} faults={faults} onChange={onChange} />
        {/* After the fields in tab order, beside them on the screen. */}
        <div className={classes.tools}>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.tool}
            data-focus="up"
            aria-label={`Move step ${index + 1} up`}
            title="Move up (Alt ↑)"
            disabled={index === 0}
            onClick={() => onMove(-1, 'up')}
          >
            <IconArrowUp size={18} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.tool}
            data-focus="down"
            aria-label={`Move step ${index + 1} down`}
            title="Move down (Alt ↓)"
            disabled={index === count - 1}
            onClick={() => onMove(1, 'down')}
          >
            <IconArrowDown size={18} />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="gray"
            className={classes.tool}
            aria-label={`Remove step ${index + 1}`}
            title="Remove"
            onClick={onRemove}
          >
            <IconTrash size={18} />
          </ActionIcon>
        </div>
      </div>
    </Step>
  );
}

type StepTargetsProps = Pick<StepEditorProps, 'step' | 'teamId' | 'names' | 'faults' | 'onChange'>;

/** Picker of whom a step pages: who is on call in schedules, a whole team, and people. */
function StepTargets({ step, teamId, names, faults, onChange }: StepTargetsProps) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const { members, further } = useFoundMembers(typed);
  const { data: team } = useQuery({ ...teamQuery(orgId, teamId), enabled: teamId !== '' });
  const wanted = typed.trim().toLowerCase();
  const text = useDebounced(wanted.slice(0, 200));
  const { data: found } = useQuery({
    ...teamNamesQuery(orgId, { limit: TEAMS_MAX, ...(text !== '' && { text }) }),
    placeholderData: keepPreviousData,
  });
  const pagedTeam = useTeamName(step.pagedTeamId);
  const onCall = [
    { value: ON_CALL, label: 'Who is on call in any schedule' },
    ...(team?.schedules ?? []).map(({ scheduleId, name }) => {
      return { value: scheduleTarget(scheduleId), label: `On call in ${isolateBidi(name)}` };
    }),
  ];
  const teams = (found?.teams ?? []).map((other) => {
    return { value: teamTarget(other.teamId), label: `Everybody in ${isolateBidi(other.name)}` };
  });
  const targets = targetsOf(step);
  const isMeant = ({ value, label }: Option) => !targets.includes(value) && label.toLowerCase().includes(wanted);
  const people = members.map((person) => ({ value: person.userId, label: onCallLabel(person) }));
  const options: Option[] = [
    ...people
      .filter(({ value }) => wanted !== '' && !targets.includes(value))
      .map((option) => ({ ...option, group: 'People' })),
    ...onCall.filter(isMeant).map((option) => ({ ...option, group: 'On call' })),
    ...teams.filter(isMeant).map((option) => ({ ...option, group: 'Teams' })),
    ...people
      .filter(({ value }) => wanted === '' && !targets.includes(value))
      .map((option) => ({ ...option, group: 'People' })),
  ];
  const left = further + Math.max(0, (found?.total ?? 0) - teams.length);
  const hasLeavers = !names.isLoading && step.targetUserIds.some((userId) => names.nameOf(userId) === undefined);
  const labelOf = (target: string): string => {
    if (target === teamTarget(step.pagedTeamId ?? '')) return `Everybody in ${isolateBidi(pagedTeam ?? '…')}`;
    const asked = onCall.find(({ value }) => value === target)?.label;
    if (asked !== undefined) return asked;
    if (step.scheduleIds.some((id) => scheduleTarget(id) === target)) return team ? 'Deleted schedule' : '…';
    // The name of the person just chosen is shown at once.
    const name = names.nameOf(target) ?? members.find(({ userId }) => userId === target)?.name;
    return name === undefined ? (names.isLoading ? '…' : 'Somebody who has left') : isolateBidi(name);
  };
  return (
    <MultiSelect
      label="Page"
      placeholder={targets.length === 0 ? 'Person, schedule or team' : ''}
      data-focus="people"
      options={options.length === 0 ? [] : [...options, ...moreOptions(left)]}
      chosen={targets.map((value) => ({ value, label: labelOf(value) }))}
      onChange={(values) => onChange(withTargets(step, values))}
      typed={typed}
      onSearch={setTyped}
      emptyText="No person, schedule or team has this name"
      error={
        faults.targetUserIds ??
        faults.scheduleIds ??
        faults.members ??
        (hasLeavers && 'Somebody here has left the organization: remove them')
      }
    />
  );
}
