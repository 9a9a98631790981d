import { Button, Checkbox, Group, NumberInput, Radio } from '@mantine/core';

import { Choice, ZoneSelect } from '#console/components/forms/choice.tsx';
import { HoursRowFields } from '#console/components/forms/hours_row.tsx';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { IconPlus } from '#console/icons.ts';
import {
  addWindow,
  type DraftHours,
  type DraftRepeat,
  type HoursFaults,
  newHours,
  type PolicyDraft,
} from '#console/pages/policies/policy_draft.ts';
import classes from '#console/pages/policies/policy_editor.module.css';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { PAUSE_MINUTES_MAX, REPEAT_TIMES_MAX, WINDOWS_MAX } from '#modules/policies/decide/policy_details.ts';

interface RepeatFieldsProps {
  readonly repeat: DraftRepeat;
  readonly error: string | undefined;
  onChange(repeat: DraftRepeat): void;
}

export function RepeatFields({ repeat, error, onChange }: RepeatFieldsProps) {
  const { times, pauseMinutes } = repeat;
  const toNumber = (value: number | string) => (typeof value === 'number' ? value : ('' as const));
  return (
    <fieldset className={classes.group}>
      <legend>After the last step</legend>
      <div className={classes.pair}>
        <NumberInput
          label="Begin again, times"
          description={`0 to ${REPEAT_TIMES_MAX}`}
          value={times}
          onChange={(value) => onChange({ ...repeat, times: toNumber(value) })}
          onFocus={(event) => event.currentTarget.select()}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          error={error}
        />
        <NumberInput
          label="Each time after a pause, in minutes"
          description={`1 to ${PAUSE_MINUTES_MAX.toLocaleString()}`}
          value={pauseMinutes}
          onChange={(value) => onChange({ ...repeat, pauseMinutes: toNumber(value) })}
          onFocus={(event) => event.currentTarget.select()}
          allowDecimal={false}
          allowNegative={false}
          hideControls
          disabled={times === 0}
        />
      </div>
    </fieldset>
  );
}

interface HoursFieldsProps {
  readonly hours: PolicyDraft['hours'];
  readonly faults: HoursFaults;
  onChange(hours: DraftHours | null): void;
}

/** Hours of the policy, and what happens outside them. */
export function HoursFields({ hours, faults, onChange }: HoursFieldsProps) {
  return (
    <fieldset className={classes.group}>
      <legend>Hours</legend>
      <Checkbox
        label="Page only within hours of the week"
        checked={hours !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? newHours() : null)}
      />
      {hours !== null && <OpenHours hours={hours} faults={faults} onChange={onChange} />}
    </fieldset>
  );
}

function OpenHours({ hours, faults, onChange }: HoursFieldsProps & { readonly hours: DraftHours }) {
  const { windows, otherPolicyId } = hours;
  const change = (changes: Partial<DraftHours>) => onChange({ ...hours, ...changes });
  const changeWindow = (key: number, changes: Partial<DraftHours['windows'][number]>) =>
    change({ windows: windows.map((window) => (window.key === key ? { ...window, ...changes } : window)) });
  const exemptions = LEVELS.map((level) => ({ value: level, label: `${level} and worse` }));
  return (
    <>
      <ZoneSelect value={hours.timezone} onChange={(timezone) => change({ timezone })} error={faults.timezone} />
      {windows.map(({ key, days, from, to }, index) => (
        <HoursRowFields
          key={key}
          label={`Hours ${index + 1}`}
          row={{ days, from, to }}
          faults={faults.ofWindows.get(key)}
          onChange={(changes) => changeWindow(key, changes)}
          onRemove={
            windows.length > 1 ? () => change({ windows: windows.filter((window) => window.key !== key) }) : undefined
          }
        />
      ))}
      {faults.windows !== undefined && (
        <p className={`${classes.hint} small flush`} role="alert">
          {faults.windows}
        </p>
      )}
      <div>
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<IconPlus size={16} />}
          disabled={windows.length >= WINDOWS_MAX}
          onClick={() => change({ windows: addWindow(windows) })}
        >
          Add hours
        </Button>
      </div>
      <Radio.Group
        label="Outside them"
        value={otherPolicyId === null ? 'hold' : 'policy'}
        onChange={(value) => change({ otherPolicyId: value === 'hold' ? null : '' })}
      >
        <Group gap="0.25rem 1.25rem" mt={4}>
          <Radio value="hold" label="Wait until they begin" />
          <Radio value="policy" label="Another policy runs" />
        </Group>
      </Radio.Group>
      {otherPolicyId !== null && (
        <PolicyPicker
          label="Policy outside the hours"
          placeholder="Choose a policy"
          value={otherPolicyId === '' ? null : otherPolicyId}
          onChange={(id) => change({ otherPolicyId: id ?? '' })}
          error={faults.outside}
        />
      )}
      <Choice
        label="Page at any time"
        placeholder="No incident"
        description="Incidents of this severity do not wait."
        options={exemptions}
        value={hours.exemptFrom}
        onChange={(exemptFrom) => change({ exemptFrom: LEVELS.find((level) => level === exemptFrom) ?? null })}
        clearLabel="No incident"
      />
    </>
  );
}
