import { Button, Group, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { actionQuery, topicKey } from '#console/api/queries.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import type { LayerDraft } from '#console/pages/oncall/layers/layers_draft.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface HolidayFieldProps {
  readonly holidays: NonNullable<LayerDraft['holidays']> | null;
  readonly error: string | undefined;
  readonly onChange: (holidays: LayerDraft['holidays']) => void;
}

/** Calendar of holidays of a layer, and whether it is silent or speaks on its days. */
export function HolidayField({ holidays, error, onChange }: HolidayFieldProps) {
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
