import { Button, Group, SimpleGrid } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { actionQuery } from '#console/api/actions.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { readOrKeep, toLocalField } from '#console/pages/oncall/local_time.ts';
import { usePutOnCall } from '#console/pages/oncall/override/use_put_on_call.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface Schedule {
  readonly scheduleId: string;
  readonly name: string;
  /** Next hand-over, as far as it is known; null for none. */
  readonly next?: { readonly at: string } | null;
}

interface PutOnCallProps {
  /** Person who was chosen before the dialog opened; null for nobody. */
  readonly userId: string | null;
  /** Schedules that the page shows; others are found by their name. */
  readonly schedules: readonly Schedule[];
  readonly scheduleCount: number;
  readonly onClose: () => void;
}

const DAY_MS = 24 * 60 * 60_000;

/** Dialog that puts a person on call in any schedule, from now on. */
export function PutOnCall({ userId: first, schedules, scheduleCount, onClose }: PutOnCallProps) {
  const [userId, setUserId] = useState(first);
  const [start] = useState(serverNow);
  const [from, setFrom] = useState(() => toLocalField(start));
  const [to, setTo] = useState(() => toLocalField(start + DAY_MS));
  const [schedule, setSchedule] = useState<Schedule | null>(schedules.length === 1 ? (schedules[0] ?? null) : null);
  const [isChecked, setIsChecked] = useState(false);
  const search = useSchedules(schedules, scheduleCount);
  const options = schedule === null ? search.schedules : [schedule, ...search.schedules];
  const names = useNamesOf(userId === null ? [] : [userId]);
  const putting = usePutOnCall(
    schedule ?? { scheduleId: '', name: '' },
    onClose,
    (id) => names.nameOf(id) ?? 'Somebody',
  );
  const [startAt, endAt] = [readOrKeep(from, start), readOrKeep(to, start + DAY_MS)];
  const refused = faultsAtFields(putting.error, { userId, startAt, endAt });
  const isBackwards = startAt !== null && endAt !== null && endAt <= startAt;
  const submit = (): void => {
    setIsChecked(true);
    if (userId === null || schedule === null || startAt === null || endAt === null || isBackwards) return;
    putting.mutate({ userId, startAt: new Date(startAt).toISOString(), endAt: new Date(endAt).toISOString() });
  };
  return (
    <FormDialog
      onClose={onClose}
      title="Put somebody on call"
      saving={putting}
      failure="Nothing was changed"
      atFields={{ userId, startAt, endAt }}
      submit="Put on call"
      gap="sm"
      onSubmit={() => submit()}
    >
      <PersonPicker
        label="Who"
        placeholder="Type a name"
        isForOnCall
        isFocused={first === null}
        value={userId}
        onChange={setUserId}
        error={isChecked && userId === null ? 'Choose who is on call then.' : refused['userId']}
      />
      <Choice
        label="Schedule"
        placeholder="Type a name"
        options={[...new Map(options.map((option) => [option.scheduleId, option])).values()].map(
          ({ scheduleId, name }) => ({ value: scheduleId, label: isolateBidi(name) }),
        )}
        value={schedule?.scheduleId ?? null}
        onChange={(value) => setSchedule(options.find(({ scheduleId }) => scheduleId === value) ?? null)}
        onSearch={search.setTyped}
        further={search.further}
        // Its list would cover the times below.
        opensOnFocus={false}
        emptyText="No schedule has this name"
        error={isChecked && schedule === null ? 'Choose a schedule' : undefined}
        {...(first !== null && { 'data-autofocus': true })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
        <TimeField
          label="From"
          value={from}
          onChange={setFrom}
          error={startAt === null ? 'Enter a day and a time.' : refused['startAt']}
        />
        <TimeField
          label="Until"
          value={to}
          onChange={setTo}
          error={
            endAt === null
              ? 'Enter a day and a time.'
              : isBackwards
                ? 'The end must be after the start.'
                : refused['endAt']
          }
        />
      </SimpleGrid>
      <Group gap={6} role="group" aria-label="Usual times">
        {presets(start, schedule?.next?.at).map(({ label, since, until }) => (
          <Button
            key={label}
            size="compact-xs"
            variant="default"
            onClick={() => {
              setFrom(toLocalField(since));
              setTo(toLocalField(until));
            }}
          >
            {label}
          </Button>
        ))}
      </Group>
    </FormDialog>
  );
}

interface Preset {
  readonly label: string;
  readonly since: number;
  readonly until: number;
}

/** Usual times of an override: until the next hand-over, the coming night, a day and a week. */
function presets(start: number, handOver: string | undefined): readonly Preset[] {
  const morning = new Date(start);
  morning.setHours(8, 0, 0, 0);
  if (morning.getTime() <= start) morning.setDate(morning.getDate() + 1);
  const evening = new Date(morning);
  evening.setDate(evening.getDate() - 1);
  evening.setHours(18);
  return [
    ...(handOver === undefined
      ? []
      : [{ label: 'Until the next hand-over', since: start, until: Date.parse(handOver) }]),
    { label: 'Tonight, 18:00 to 08:00', since: Math.max(start, evening.getTime()), until: morning.getTime() },
    { label: 'For 24 hours', since: start, until: start + DAY_MS },
    { label: 'For a week', since: start, until: start + 7 * DAY_MS },
  ];
}

/** Returns the schedules that the page shows until something is typed, then those that the server finds. */
function useSchedules(shown: readonly Schedule[], count: number) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const { data } = useQuery({
    ...actionQuery(orgId, 'settings', 'search_everything', { text }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
  if (text === '') return { schedules: shown, further: count - shown.length, setTyped };
  const { items = [], total = 0 } = data?.found.find(({ kind }) => kind === 'schedule') ?? {};
  return {
    schedules: items.map(({ id, name }) => ({ scheduleId: id, name })),
    further: total - items.length,
    setTyped,
  };
}
