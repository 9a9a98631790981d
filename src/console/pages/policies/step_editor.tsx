import { ActionIcon, Checkbox, Group, NumberInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { type KeyboardEvent, useState } from 'react';

import { lazyPart } from '#console/components/lazy_part.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { SHOWN_CHANNELS } from '#console/components/text/channel.tsx';
import { MultiSelect } from '#console/components/forms/multi_select.tsx';
import { dutyLabel } from '#console/components/text/role.ts';
import { useFoundMembers } from '#console/components/forms/person_picker.tsx';
import { Bullet, Step } from '#console/components/forms/steps.tsx';
import type { Names } from '#console/components/text/use_names_of.ts';
import classes from '#console/pages/policies/policy_editor.module.css';
import type { DraftStep } from '#console/pages/policies/policy_draft.ts';
import type { DetailFaults } from '#console/pages/policies/step_details.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

const MoreFields = lazyPart(() => import('#console/pages/policies/step_details.tsx').then((m) => m.MoreFields));
const OnCallFields = lazyPart(() => import('#console/pages/policies/step_details.tsx').then((m) => m.OnCallFields));

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
  /** Names of the people this step pages. */
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
  const [typed, setTyped] = useState('');
  const { members } = useFoundMembers(typed);
  const choices = members.filter(({ userId }) => !step.targetUserIds.includes(userId));
  const hasLeavers = !names.isLoading && step.targetUserIds.some((userId) => names.nameOf(userId) === undefined);
  const chosen = step.targetUserIds.map((userId) => {
    // The name of the person just chosen is shown at once.
    const name = names.nameOf(userId) ?? members.find((member) => member.userId === userId)?.name;
    const unknown = names.isLoading ? '…' : 'Somebody who has left';
    return { value: userId, label: name === undefined ? unknown : isolateBidi(name) };
  });
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
      <div className={classes.fields} role="group" aria-label={`Step ${index + 1}`}>
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
            <MultiSelect
              label="Page"
              placeholder={step.targetUserIds.length === 0 ? 'Type a name' : ''}
              data-focus="people"
              options={choices.map(({ userId, name: memberName, role }) => ({
                value: userId,
                label: dutyLabel(memberName, role),
              }))}
              chosen={chosen}
              onChange={(targetUserIds) => onChange({ targetUserIds })}
              typed={typed}
              onSearch={setTyped}
              emptyText="Nobody has this name"
              error={faults.targetUserIds ?? (hasLeavers && 'Somebody here has left the organization: remove them')}
            />
          )}
        </div>
        {isOutOfOrder && <p className={classes.hint}>Fires before a step that stands above it.</p>}
        {step.policyId === null && (
          <Checkbox
            data-focus="on_call"
            label="The people on call then"
            checked={step.useSchedule}
            onChange={(event) => onChange({ useSchedule: event.currentTarget.checked })}
          />
        )}
        {step.policyId === null && step.useSchedule && (
          <OnCallFields step={step} teamId={teamId} faults={faults} onChange={onChange} />
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
        <MoreFields step={step} index={index} faults={faults} onChange={onChange} />
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
