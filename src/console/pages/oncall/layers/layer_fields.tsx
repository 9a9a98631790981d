import {
  ActionIcon,
  Button,
  Group,
  NativeSelect,
  Stack,
  Text,
  Textarea,
  TextInput,
  UnstyledButton,
} from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconTrash } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { actionQuery, topicKey } from '#console/api/queries.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LayerTurns } from '#console/pages/oncall/layers/layer_turns.tsx';
import {
  type LayerDraft,
  type RotationUnit,
  turnLengthText,
  WEEKDAYS,
  type WeekWindow,
} from '#console/pages/oncall/layers/layers_draft.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/pages/oncall/layers/layer_fields.module.css';

interface LayerFieldsProps {
  readonly layer: LayerDraft;
  readonly index: number;
  readonly count: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly nameOf: (userId: string) => string;
  readonly faultOf: (field: string) => string | undefined;
  readonly onChange: (changes: Partial<LayerDraft>) => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onRemove: () => void;
}

const UNITS: readonly RotationUnit[] = ['hours', 'days', 'weeks', 'months'];

const WORKDAYS: readonly WeekWindow[] = [1, 2, 3, 4, 5].map((day) => {
  return { fromDay: day, from: '09:00', toDay: day, to: '17:00' };
});

/** Fields of one layer, folded unless it is open. */
export function LayerFields(props: LayerFieldsProps) {
  const { layer, index, count, isOpen, onToggle, nameOf, faultOf, onChange, onMove, onRemove } = props;
  const length = turnLengthText({ every: Number(layer.every), unit: layer.unit });
  return (
    <section className={classes.layer} aria-label={`Layer ${layer.name}`}>
      <div className={classes.head}>
        <UnstyledButton className={classes.title} onClick={onToggle} aria-expanded={isOpen}>
          <b>{layer.name === '' ? 'Without a name' : layer.name}</b>
          <Text size="xs" c="dimmed">
            {[length, layer.hours === null ? 'always' : 'at some hours', ...(layer.holidays ? ['holidays'] : [])].join(
              ', ',
            )}
          </Text>
        </UnstyledButton>
        {index > 0 && (
          <>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              disabled={index === count - 1}
              onClick={() => onMove(1)}
              aria-label={`Move ${layer.name} up`}
            >
              <IconArrowUp size={16} />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              color="gray"
              size={36}
              disabled={index === 1}
              onClick={() => onMove(-1)}
              aria-label={`Move ${layer.name} down`}
            >
              <IconArrowDown size={16} />
            </ActionIcon>
            <ActionIcon variant="subtle" color="gray" size={36} onClick={onRemove} aria-label={`Remove ${layer.name}`}>
              <IconTrash size={16} />
            </ActionIcon>
          </>
        )}
      </div>
      {isOpen && (
        <Stack gap="sm" className={classes.fields}>
          <TextInput
            label="Name of the layer"
            value={layer.name}
            onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
            error={faultOf('name')}
            maxLength={200}
          />
          <LayerTurns
            turns={layer.turns}
            nameOf={nameOf}
            error={faultOf('turns')}
            onChange={(turns) => onChange({ turns })}
          />
          <Group gap="xs" align="flex-start" wrap="nowrap">
            <TextInput
              label="Turns change every"
              inputMode="numeric"
              value={layer.every}
              onChange={({ currentTarget }) => onChange({ every: currentTarget.value.trim() })}
              error={faultOf('rotation')}
            />
            <NativeSelect
              label="Unit"
              miw="6.5rem"
              value={layer.unit}
              onChange={({ currentTarget }) => onChange({ unit: currentTarget.value as RotationUnit })}
              data={UNITS.map((unit) => ({ value: unit, label: unit }))}
            />
          </Group>
          <Stack gap="sm">
            <TextInput
              label="Turns are counted from"
              type="datetime-local"
              value={layer.startsAt}
              onChange={({ currentTarget }) => onChange({ startsAt: currentTarget.value })}
              error={faultOf('startsAt')}
            />
            <TextInput
              label="Ends (optional)"
              type="datetime-local"
              value={layer.endsAt}
              onChange={({ currentTarget }) => onChange({ endsAt: currentTarget.value })}
              error={faultOf('endsAt')}
            />
          </Stack>
          <HoursField hours={layer.hours} error={faultOf('hours')} onChange={(hours) => onChange({ hours })} />
          <HolidayField
            holidays={layer.holidays ?? null}
            error={faultOf('holidays')}
            onChange={(holidays) => onChange({ holidays })}
          />
        </Stack>
      )}
    </section>
  );
}

interface HoursFieldProps {
  readonly hours: LayerDraft['hours'];
  readonly error: string | undefined;
  readonly onChange: (hours: LayerDraft['hours']) => void;
}

/** Times of the week at which a layer speaks. */
function HoursField({ hours, error, onChange }: HoursFieldProps) {
  const set = (index: number, changes: Partial<WeekWindow>): void => {
    const window = hours?.[index];
    if (hours !== null && window !== undefined) onChange(hours.with(index, { ...window, ...changes }));
  };
  return (
    <Stack gap={6}>
      <NativeSelect
        label="Speaks"
        description="Outside these hours the layers below decide. Drag over a bar of the week to add a time, and its edges to change one."
        value={hours === null ? 'always' : 'hours'}
        onChange={({ currentTarget }) => onChange(currentTarget.value === 'always' ? null : WORKDAYS)}
        data={[
          { value: 'always', label: 'Always' },
          { value: 'hours', label: 'At these hours of the week' },
        ]}
      />
      {hours !== null && (
        <Group gap="xs" role="group" aria-label="Usual hours">
          {USUAL_HOURS.map(([name, usual]) => (
            <Button key={name} size="compact-sm" variant="default" onClick={() => onChange(usual)}>
              {name}
            </Button>
          ))}
        </Group>
      )}
      {(hours ?? []).map((window, index) => (
        // Windows have no identity but their place.
        // eslint-disable-next-line react/no-array-index-key
        <div key={index} className={classes.window} role="group" aria-label={`Time ${index + 1}`}>
          <DaySelect label="From day" value={window.fromDay} onChange={(fromDay) => set(index, { fromDay })} />
          <TimeField label="From" value={window.from} onChange={(from) => set(index, { from })} />
          <DaySelect label="To day" value={window.toDay} onChange={(toDay) => set(index, { toDay })} />
          <TimeField label="To" value={window.to} onChange={(to) => set(index, { to })} />
          <ActionIcon
            variant="subtle"
            color="gray"
            size={36}
            onClick={() => onChange((hours ?? []).toSpliced(index, 1))}
            aria-label={`Remove time ${index + 1}`}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </div>
      ))}
      {error !== undefined && (
        <Text size="xs" c="red" role="alert">
          {error}
        </Text>
      )}
      {hours !== null && (
        <Group>
          <Button size="xs" variant="default" onClick={() => onChange([...hours, hours.at(-1) ?? nine(1)])}>
            Add a time
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const NIGHTS: readonly WeekWindow[] = WEEKDAYS.map((_, index) => {
  return { fromDay: index + 1, from: '17:00', toDay: ((index + 1) % 7) + 1, to: '09:00' };
});

/** Hours that most layers have, to begin with. */
const USUAL_HOURS: readonly (readonly [string, readonly WeekWindow[]])[] = [
  ['Office hours', WORKDAYS],
  ['Nights', NIGHTS],
  ['Weekends', [{ fromDay: 5, from: '17:00', toDay: 1, to: '09:00' }]],
];

const nine = (day: number): WeekWindow => ({ fromDay: day, from: '09:00', toDay: day, to: '17:00' });

interface DaySelectProps {
  readonly label: string;
  readonly value: number;
  readonly onChange: (day: number) => void;
}

function DaySelect({ label, value, onChange }: DaySelectProps) {
  return (
    <NativeSelect
      aria-label={label}
      value={String(value)}
      onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
      data={WEEKDAYS.map((day, index) => ({ value: String(index + 1), label: day.slice(0, 3) }))}
    />
  );
}

interface TimeFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (time: string) => void;
}

/** Text field, since a field for times of the day has no 24:00. */
function TimeField({ label, value, onChange }: TimeFieldProps) {
  const isTime = /^([01]\d|2[0-3]):[0-5]\d$|^24:00$/.test(value);
  return (
    <TextInput
      aria-label={label}
      placeholder="09:00"
      maxLength={5}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      error={!isTime}
    />
  );
}

interface HolidayFieldProps {
  readonly holidays: NonNullable<LayerDraft['holidays']> | null;
  readonly error: string | undefined;
  readonly onChange: (holidays: LayerDraft['holidays']) => void;
}

/** Calendar of holidays of a layer, and whether it is silent or speaks on its days. */
function HolidayField({ holidays, error, onChange }: HolidayFieldProps) {
  const { orgId } = useOrganization().org;
  const [isAdding, setIsAdding] = useState(false);
  const { data } = useQuery(actionQuery(orgId, 'teams', 'list_holiday_calendars', {}));
  const calendars = data?.calendars ?? [];
  const chosen = calendars.find(({ calendarId }) => calendarId === holidays?.calendarId);
  return (
    <Stack gap={6}>
      <NativeSelect
        label="Holidays"
        value={holidays?.calendarId ?? ''}
        onChange={({ currentTarget: { value } }) =>
          onChange(value === '' ? null : { calendarId: value, on: holidays?.on ?? 'silent' })
        }
        data={[
          { value: '', label: 'Make no difference' },
          ...calendars.map(({ calendarId, name }) => ({ value: calendarId, label: name })),
        ]}
        error={error}
      />
      {holidays !== null && (
        <NativeSelect
          aria-label="On holidays"
          value={holidays.on}
          onChange={({ currentTarget }) =>
            onChange({ ...holidays, on: currentTarget.value === 'speaks' ? 'speaks' : 'silent' })
          }
          data={[
            { value: 'silent', label: 'The layer is silent on these days' },
            { value: 'speaks', label: 'The layer speaks on these days only' },
          ]}
        />
      )}
      {chosen !== undefined && (
        <Text size="xs" c={chosen.fault === null ? 'dimmed' : 'red'}>
          {chosen.dates.length === 1 ? '1 day' : `${chosen.dates.length} days`}
          {chosen.fault !== null && `. The calendar could not be read: ${chosen.fault}. The last good one counts`}
        </Text>
      )}
      {isAdding ? (
        <NewCalendar
          onDone={(calendarId) => {
            setIsAdding(false);
            if (calendarId !== null) onChange({ calendarId, on: holidays?.on ?? 'silent' });
          }}
        />
      ) : (
        <Group>
          <Button size="compact-xs" variant="subtle" onClick={() => setIsAdding(true)}>
            Add a calendar
          </Button>
        </Group>
      )}
    </Stack>
  );
}

/** Fields of a new calendar: an address, or dates one a line. */
function NewCalendar({ onDone }: { readonly onDone: (calendarId: string | null) => void }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [name, setName] = useState('Holidays');
  const [text, setText] = useState('');
  const parts = text.split(/[\s,;]+/).filter((part) => part !== '');
  const [first] = parts;
  const isAddress = parts.length === 1 && first !== undefined && first.includes('://');
  const creating = useMutation({
    mutationFn: () =>
      invoke(orgId, 'create_holiday_calendar', {
        name: name.trim(),
        ...(isAddress ? { url: first } : { dates: parts }),
      }),
    onSuccess: ({ calendarId }) => onDone(calendarId),
    onSettled: () => queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') }),
  });
  return (
    <Stack gap={6}>
      <TextInput
        label="Name of the calendar"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        maxLength={200}
      />
      <Textarea
        label="Dates, or the address of an iCalendar file"
        description="Such as 2027-12-25, one a line; or https://example.com/holidays.ics, which is read every day."
        value={text}
        onChange={({ currentTarget }) => setText(currentTarget.value)}
        autosize
        minRows={2}
        maxRows={8}
      />
      {creating.isError && <ErrorAlert title="The calendar was not made" error={creating.error} />}
      <Group>
        <Button
          size="xs"
          onClick={() => creating.mutate()}
          loading={creating.isPending}
          disabled={name.trim() === '' || parts.length === 0}
        >
          Make the calendar
        </Button>
        <Button size="xs" variant="default" onClick={() => onDone(null)}>
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}
