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
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke } from '#console/api/actions.ts';
import { AskBeforeLeaving } from '#console/components/dialog.tsx';
import { askThen } from '#console/components/leaving.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { HoursRowFields } from '#console/components/forms/hours_row.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { IconArrowDown, IconArrowUp, IconTrash } from '#console/icons.ts';
import { LayerTurns } from '#console/pages/oncall/layers/layer_turns.tsx';
import { type LayerDraft, type RotationUnit, turnLengthText } from '#console/pages/oncall/layers/layers_draft.ts';
import {
  dayName,
  daysToEnd,
  type HoursRow,
  rowText,
  USUAL_HOURS,
  WEEKDAYS,
} from '#console/pages/oncall/layers/week_hours.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import classes from '#console/pages/oncall/layers/layer_fields.module.css';

interface LayerFieldsProps {
  readonly layer: LayerDraft;
  readonly teamId: string;
  readonly index: number;
  readonly count: number;
  readonly isOpen: boolean;
  /** Whether it was added just now, and is shown. */
  readonly isAdded: boolean;
  readonly onToggle: () => void;
  readonly nameOf: (userId: string) => string;
  readonly faultOf: (field: string) => string | undefined;
  readonly onChange: (changes: Partial<LayerDraft>) => void;
  readonly onMove: (by: 1 | -1) => void;
  readonly onRemove: () => void;
}

const UNITS: readonly RotationUnit[] = ['hours', 'days', 'weeks', 'months'];

/** Scrolls to what would be out of sight. */
const reveal = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' });

/** Fields of one layer, folded unless it is open. */
export function LayerFields(props: LayerFieldsProps) {
  const { layer, teamId, index, count, isOpen, isAdded, onToggle, nameOf, faultOf, onChange, onMove, onRemove } = props;
  const length = turnLengthText({ every: Number(layer.every), unit: layer.unit });
  return (
    <section ref={isAdded ? reveal : undefined} className="bordered" aria-label={`Layer ${layer.name}`}>
      <div className={`${classes.head} row`}>
        <UnstyledButton className={`${classes.title} grow`} onClick={onToggle} aria-expanded={isOpen}>
          <b>{layer.name === '' ? 'Without a name' : layer.name}</b>
          <Text size="xs" c="dimmed">
            {[length, layer.hours?.map(rowText).join('; ') ?? 'always', ...(layer.holidays ? ['holidays'] : [])].join(
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
            teamId={teamId}
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
            <TimeField
              label="Turns are counted from"
              value={layer.startsAt}
              onChange={(value) => onChange({ startsAt: value })}
              error={faultOf('startsAt')}
            />
            <TimeField
              label="Ends (optional)"
              value={layer.endsAt}
              onChange={(value) => onChange({ endsAt: value })}
              error={faultOf('endsAt')}
            />
          </Stack>
          <HoursField layer={layer} error={faultOf('hours')} onChange={onChange} />
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
  readonly layer: LayerDraft;
  readonly error: string | undefined;
  readonly onChange: (changes: Partial<LayerDraft>) => void;
}

/** Times of the week at which somebody of a layer is on call. */
function HoursField({ layer: { name, hours }, error, onChange }: HoursFieldProps) {
  const usual = USUAL_HOURS.find((usual) => JSON.stringify(usual.hours) === JSON.stringify(hours));
  const choose = (chosen: string): void => {
    const next = USUAL_HOURS.find((other) => other.name === chosen);
    const isUnnamed = /^Layer \d+$/.test(name) || USUAL_HOURS.some((other) => other.name === name);
    onChange({
      hours: chosen === 'Always' ? null : (next?.hours ?? hours ?? [OFFICE]),
      ...(next !== undefined && isUnnamed && { name: chosen }),
    });
  };
  return (
    <Stack gap={6}>
      <NativeSelect
        label="On call"
        description="Outside these hours the layers below decide. Drag over a bar of the week to add hours, and its edges to change them."
        value={hours === null ? 'Always' : (usual?.name ?? 'Other hours')}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
        data={['Always', ...USUAL_HOURS.map((other) => other.name), 'Other hours']}
      />
      {(hours ?? []).map((row, index) => (
        <HoursRowFields
          // Rows have no identity but their place.
          // eslint-disable-next-line react/no-array-index-key
          key={index}
          label={`Hours ${index + 1}`}
          row={row}
          onChange={(changes) => onChange({ hours: hours?.with(index, { ...row, ...changes }) ?? null })}
          onRemove={
            hours !== null && hours.length > 1 ? () => onChange({ hours: hours.toSpliced(index, 1) }) : undefined
          }
        >
          <NativeSelect
            label="Ends"
            flex="1 1 8.5rem"
            maw="11rem"
            value={String(row.later)}
            onChange={({ currentTarget }) =>
              onChange({ hours: hours?.with(index, { ...row, later: Number(currentTarget.value) }) ?? null })
            }
            data={WEEKDAYS.map((_, later) => ({ value: String(later), label: endText({ ...row, later }) }))}
          />
        </HoursRowFields>
      ))}
      {error !== undefined && (
        <Text size="xs" c="red" role="alert">
          {error}
        </Text>
      )}
      {hours !== null && (
        <Group>
          <Button size="compact-sm" variant="default" onClick={() => onChange({ hours: [...hours, OFFICE] })}>
            Other hours on some days
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const OFFICE: HoursRow = { days: [], from: '09:00', to: '17:00', later: 0 };

/** Returns the day on which hours end, by its name where they begin on one day. */
function endText(row: HoursRow): string {
  const after = daysToEnd(row);
  if (after === 0) return 'the same day';
  if (after === 1) return 'the next day';
  const [first] = row.days;
  return row.days.length === 1 && first !== undefined ? `on ${dayName(first + after)}` : `${after} days later`;
}

interface HolidayFieldProps {
  readonly holidays: NonNullable<LayerDraft['holidays']> | null;
  readonly error: string | undefined;
  readonly onChange: (holidays: LayerDraft['holidays']) => void;
}

/** Calendar of holidays of a layer, and whether it is off on its days, or on call on them only. */
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
          { value: '', label: calendars.length === 0 ? 'No calendar yet' : 'Make no difference' },
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
            { value: 'silent', label: 'Nobody of this layer is on call on these days' },
            { value: 'speaks', label: 'On call on these days only' },
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
          names={calendars.map(({ name }) => name)}
          onDone={(calendarId) => {
            setIsAdding(false);
            if (calendarId !== null) onChange({ calendarId, on: holidays?.on ?? 'silent' });
          }}
        />
      ) : (
        <Group>
          <Button size="compact-sm" variant="default" onClick={() => setIsAdding(true)}>
            Add a calendar
          </Button>
        </Group>
      )}
    </Stack>
  );
}

interface NewCalendarProps {
  readonly names: readonly string[];
  readonly onDone: (calendarId: string | null) => void;
}

/** Fields of a new calendar: an address, or dates one a line. */
function NewCalendar({ names, onDone }: NewCalendarProps) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const [name, setName] = useState(names.includes('Holidays') ? '' : 'Holidays');
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
    onSettled: () => refresh('teams'),
  });
  return (
    <Stack gap={6}>
      {text !== '' && <AskBeforeLeaving loss="input" />}
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
        <Button
          size="xs"
          variant="default"
          onClick={() => askThen(text === '' ? undefined : 'input', () => onDone(null))}
        >
          Cancel
        </Button>
      </Group>
    </Stack>
  );
}
