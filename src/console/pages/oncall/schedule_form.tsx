import { ActionIcon, Button, Group, Kbd, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, type ReactNode, useEffect, useEffectEvent, useId, useRef, useState } from 'react';

import { isApiError } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { useFoundMembers } from '#console/components/forms/found_members.ts';
import { ZoneSelect } from '#console/components/forms/zone_select.tsx';
import { Name } from '#console/components/text/name.tsx';
import { dutyLabel } from '#console/components/text/role.ts';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { RotationPreview } from '#console/pages/oncall/rotation_preview.tsx';
import {
  draftFaults,
  lengthText,
  type ScheduleDraft,
  withMoved,
  withoutTurn,
  withPerson,
} from '#console/pages/oncall/schedule_draft.ts';
import peopleOrderClasses from '#console/pages/oncall/people_order.module.css';
import classes from '#console/pages/oncall/schedule_form.module.css';

interface ScheduleFormProps {
  readonly draft: ScheduleDraft;
  readonly onChange: (draft: ScheduleDraft) => void;
  /** Notice on an earlier draft. */
  readonly notice?: ReactNode;
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
    notice,
    team,
    further,
    button,
    isPending,
    isBlocked = false,
    error,
    onSubmit,
    onCancel,
  } = props;
  const names = useNamesOf(draft.turns.map(({ userId }) => userId));
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
    <Form
      error={error}
      className={classes.form}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
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
            value={draft.name}
            onChange={({ currentTarget }) => set({ name: currentTarget.value })}
            error={shown['name']}
            maxLength={500}
          />
          {team?.(shown['teamId'] ?? shown['teamName'])}
          <PeopleOrder draft={draft} nameOf={nameOf} error={shown['turns']} onChange={onChange} />
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
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending} disabled={isBlocked}>
              {button}
            </Button>
          </Group>
        </Stack>
      </Card>
      <RotationPreview draft={draft} isValid={isRotationValid(faults)} nameOf={nameOf} />
    </Form>
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

function HandOverField({ draft, error, onChange }: FieldProps) {
  return (
    <TextInput
      label="First turn begins"
      type="datetime-local"
      value={draft.handOverAt}
      onChange={({ currentTarget }) => onChange({ ...draft, handOverAt: currentTarget.value })}
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

interface PeopleOrderProps {
  readonly draft: ScheduleDraft;
  readonly nameOf: (userId: string) => string;
  readonly error: string | undefined;
  readonly onChange: (draft: ScheduleDraft) => void;
}

/** Editor of the people who take turns, in their order. Alt and an arrow move the focused row, Delete removes it. */
export function PeopleOrder({ draft, nameOf, error, onChange }: PeopleOrderProps) {
  const [typed, setTyped] = useState('');
  const [added, setAdded] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const id = useId();
  /** Whether Enter was pressed: the first person found is added, now or when the server has answered. */
  const isAwaited = useRef(false);
  const { members: people } = useFoundMembers(typed);
  const { turns } = draft;
  const focusRow = (index: number): void => {
    const row = Math.min(index, turns.length - 1);
    requestAnimationFrame(() => list.current?.querySelectorAll<HTMLElement>('li')[row]?.focus());
  };
  const move = (index: number, by: 1 | -1): void => onChange(withMoved(draft, index, by));
  const remove = (index: number): void => onChange(withoutTurn(draft, index));
  const onKeyDown = (event: KeyboardEvent, index: number): void => {
    const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : null;
    if (event.altKey && by !== null) {
      event.preventDefault();
      move(index, by);
      focusRow(Math.max(0, index + by));
    } else if (event.key === 'Delete' && event.target === event.currentTarget) {
      event.preventDefault();
      remove(index);
      focusRow(Math.min(index, turns.length - 2));
    }
  };
  const add = (userId: string): void => {
    onChange(withPerson(draft, userId));
    setTyped('');
    setAdded(added + 1);
  };
  const addAwaited = (): void => {
    const [match] = people;
    if (!isAwaited.current || match === undefined) return;
    isAwaited.current = false;
    add(match.userId);
  };
  const onFound = useEffectEvent(addAwaited);
  const firstFound = people[0]?.userId;
  useEffect(() => {
    if (firstFound !== undefined) onFound();
  }, [firstFound]);
  /** Handles Enter while somebody types a name: it never saves the form, also before there is a list to choose from. */
  const addFirstMatch = (event: KeyboardEvent): void => {
    const isInPicker = event.target instanceof HTMLInputElement;
    if (event.key !== 'Enter' || !isInPicker || typed === '' || event.isDefaultPrevented()) return;
    event.preventDefault();
    isAwaited.current = true;
    addAwaited();
  };
  return (
    <div role="group" aria-labelledby={id} onKeyDown={addFirstMatch}>
      <Text id={id} size="sm" fw={500}>
        Who takes turns
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        In this order, then from the beginning. Somebody added twice has two turns.
      </Text>
      {turns.length > 0 && (
        <ol className={peopleOrderClasses.list} ref={list} aria-label="Order of turns">
          {turns.map(({ key, userId }, index) => (
            // The row itself takes keys, as its label says.
            // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/no-noninteractive-tabindex
            <li
              key={key}
              className={peopleOrderClasses.person}
              tabIndex={0}
              onKeyDown={(event) => onKeyDown(event, index)}
            >
              <span className={peopleOrderClasses.place}>{index + 1}</span>
              <span className={peopleOrderClasses.name}>
                <Name>{nameOf(userId)}</Name>
              </span>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                disabled={index === 0}
                onClick={() => move(index, -1)}
                aria-label={`Move ${nameOf(userId)} up`}
              >
                <IconArrowUp size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                disabled={index === turns.length - 1}
                onClick={() => move(index, 1)}
                aria-label={`Move ${nameOf(userId)} down`}
              >
                <IconArrowDown size={16} />
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={36}
                onClick={() => remove(index)}
                aria-label={`Remove ${nameOf(userId)}`}
              >
                <IconX size={16} />
              </ActionIcon>
            </li>
          ))}
        </ol>
      )}
      <Choice
        // The key makes a new field after each choice, also after Enter before the answer.
        key={added}
        autoFocus={added > 0}
        label="Add a person"
        isLabelHidden
        placeholder="Add a person"
        options={people.map(({ userId, name, role }) => ({ value: userId, label: dutyLabel(name, role) }))}
        value={null}
        onSearch={(text) => {
          isAwaited.current = false;
          setTyped(text);
        }}
        onChange={(userId) => {
          if (userId !== null) add(userId);
        }}
        emptyText="Nobody has this name"
        error={error}
      />
    </div>
  );
}
