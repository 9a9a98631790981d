import { Button, Group, Kbd, NativeSelect, Stack, TextInput } from '@mantine/core';
import { type ComponentProps, type ReactNode, useState } from 'react';

import { isApiError, serverNow } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CancelButton, Form } from '#console/components/forms/form.tsx';
import { ZoneSelect } from '#console/components/forms/choice.tsx';
import { PersonColors } from '#console/components/text/person_dot.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { LayerTurns } from '#console/pages/oncall/layers/layer_turns.tsx';
import { RotationPreview } from '#console/pages/oncall/rotation_preview.tsx';
import {
  draftFaults,
  isZone,
  lengthText,
  type ScheduleDraft,
  toZoneField,
} from '#console/pages/oncall/schedule_draft.ts';
import { momentText } from '#console/pages/oncall/span_text.ts';
import classes from '#console/pages/oncall/schedule_form.module.css';

interface ScheduleFormProps {
  readonly draft: ScheduleDraft;
  readonly onChange: (draft: ScheduleDraft) => void;
  /** Id of the team; empty for one that is created with the schedule. */
  readonly teamId: string;
  /** Notice on an earlier draft. */
  readonly notice: ReactNode;
  readonly stored: ComponentProps<typeof Form>['draft'];
  /** Renders the field of the team, with its fault. */
  readonly team?: (fault: string | undefined) => ReactNode;
  /** Content between the fields and the buttons. */
  readonly further: ReactNode;
  readonly button: string;
  readonly isPending: boolean;
  readonly isBlocked?: boolean;
  readonly error: unknown;
  readonly onSubmit: () => void;
  readonly onCancel: () => void;
}

const LENGTHS = [12, 24, 168, 336] as const;

/** Form of a new schedule beside a preview of it. */
export function ScheduleForm(props: ScheduleFormProps) {
  const {
    draft,
    onChange,
    teamId,
    notice,
    stored,
    team,
    further,
    button,
    isPending,
    isBlocked = false,
    error,
    onSubmit,
    onCancel,
  } = props;
  const names = useNamesOf(draft.turns.flatMap(({ userIds }) => userIds));
  const nameOf = (userId: string) => names.nameOf(userId) ?? (names.isLoading ? '…' : 'Somebody who has left');
  const [isChecked, setIsChecked] = useState(false);
  const faults = draftFaults(draft);
  const shown: Readonly<Record<string, string | undefined>> = { ...faultsOf(error), ...(isChecked ? faults : {}) };
  const isValid = Object.keys(faults).length === 0;
  const set = (changes: Partial<ScheduleDraft>): void => onChange({ ...draft, ...changes });
  const submit = (): void => {
    setIsChecked(true);
    if (isValid && !isBlocked && !isPending) onSubmit();
  };
  return (
    <PersonColors value={names.colorOf}>
      <Form
        error={error}
        draft={stored}
        className={classes.form}
        onSubmit={() => submit()}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          event.currentTarget.requestSubmit();
        }}
      >
        <Card>
          <Stack>
            {notice}
            <TextInput
              label="Name"
              autoFocus={draft.name === ''}
              value={draft.name}
              onChange={({ currentTarget }) => set({ name: currentTarget.value })}
              error={shown['name']}
              maxLength={500}
            />
            {team?.(shown['teamId'] ?? shown['teamName'])}
            <LayerTurns
              turns={draft.turns}
              teamId={teamId}
              nameOf={nameOf}
              error={shown['turns']}
              isPlain
              onChange={(turns) => set({ turns })}
            />
            <LengthField draft={draft} error={shown['hours']} onChange={onChange} />
            <HandOverField draft={draft} error={shown['handOverAt']} onChange={onChange} />
            <ZoneSelect
              description="Turns change hands at this zone's local time, also when clocks change."
              value={draft.timezone}
              onChange={(timezone) => set({ timezone })}
              error={shown['timezone']}
            />
            {error !== null && error !== undefined && (
              <ErrorAlert title="The schedule was not saved" error={error} atFields={AT_FIELDS} />
            )}
            {further}
            <Group justify="flex-end">
              <span className={classes.hint}>
                <Kbd>Ctrl</Kbd> <Kbd>Enter</Kbd>
              </span>
              <CancelButton onCancel={onCancel} />
              <Button type="submit" loading={isPending} disabled={isBlocked}>
                {button}
              </Button>
            </Group>
          </Stack>
        </Card>
        <RotationPreview draft={draft} isValid={isRotationValid(faults)} nameOf={nameOf} />
      </Form>
    </PersonColors>
  );
}

interface FieldProps {
  readonly draft: ScheduleDraft;
  readonly error: string | undefined;
  readonly onChange: (draft: ScheduleDraft) => void;
}

/** Field for the length of each turn: a usual length, or any number of hours. */
function LengthField({ draft, error, onChange }: FieldProps) {
  const isUsual = LENGTHS.some((hours) => String(hours) === draft.hours);
  const [isOther, setIsOther] = useState(!isUsual);
  return (
    <Stack gap="xs">
      <NativeSelect
        label="Turns change"
        value={isOther || !isUsual ? 'other' : draft.hours}
        onChange={({ currentTarget: { value } }) => {
          setIsOther(value === 'other');
          if (value !== 'other') onChange({ ...draft, hours: value });
        }}
        data={[
          ...LENGTHS.map((hours) => ({ value: String(hours), label: capital(lengthText(hours)) })),
          { value: 'other', label: 'After other hours' },
        ]}
      />
      {(isOther || !isUsual) && (
        <TextInput
          label="Hours"
          inputMode="numeric"
          value={draft.hours}
          onChange={({ currentTarget }) => onChange({ ...draft, hours: currentTarget.value.trim() })}
          error={error}
        />
      )}
    </Stack>
  );
}

const HOUR_MS = 3_600_000;

/** Returns what the beginning of the first turn means: from when on somebody is on call, and when turns change next. */
export function beginningText({ handOverAt, hours, timezone }: ScheduleDraft, now: number): string {
  const turnMs = Number(hours) * HOUR_MS;
  // Wall clocks of the zone, compared as if they were UTC: turns change by them.
  const begins = Date.parse(`${handOverAt}Z`);
  if (!isZone(timezone) || !(turnMs > 0)) return '';
  const wall = Date.parse(`${toZoneField(now, timezone)}Z`);
  if (!(begins <= wall)) return 'Nobody is on call before.';
  const next = begins + Math.ceil((wall - begins + 1) / turnMs) * turnMs;
  return `Has begun: somebody is on call at once, until ${momentText(next, 'UTC')}.`;
}

function HandOverField({ draft, error, onChange }: FieldProps) {
  return (
    <TimeField
      label="First turn begins"
      description={beginningText(draft, serverNow())}
      value={draft.handOverAt}
      onChange={(value) => onChange({ ...draft, handOverAt: value })}
      error={error}
    />
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function isRotationValid({ name: _name, ...others }: Readonly<Record<string, string>>): boolean {
  return Object.keys(others).length === 0;
}

/** Names of the fields in errors of the server. */
const AT_FIELDS = {
  name: '',
  teamId: '',
  teamName: '',
  timezone: '',
  'rotationConfig.shiftHours': '',
  'rotationConfig.userIds': '',
  'handOver.at': '',
  'handOver.position': '',
  startAt: '',
};

const FIELD_OF_PATH: Readonly<Record<string, string>> = {
  'rotationConfig.shiftHours': 'hours',
  'handOver.at': 'handOverAt',
  'handOver.position': 'handOverAt',
  startAt: 'handOverAt',
};

/** Returns the faults found by the server, by field. */
function faultsOf(error: unknown): Readonly<Record<string, string>> {
  if (!isApiError(error)) return {};
  return Object.fromEntries(
    error.faults.map(({ path, message }) => [
      FIELD_OF_PATH[path] ?? (path.startsWith('rotationConfig.userIds') ? 'turns' : path),
      `It ${message}.`,
    ]),
  );
}
