import { ActionIcon, Button, Group, Menu, Stack, TextInput, Tooltip } from '@mantine/core';
import { IconCalendarTime, IconCheck, IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import classes from '#console/components/range_picker.module.css';
import { betweenOf, RANGES, rangeText, type TimeRange } from '#console/components/time_range.ts';

interface RangePickerProps {
  readonly range: TimeRange;
  onChange(range: TimeRange): void;
}

/** Chooses the period that a page shows; the arrows go one period earlier or later. */
export function RangePicker({ range, onChange }: RangePickerProps) {
  const [isExact, setIsExact] = useState(false);
  const { from, to } = timesOf(range);
  const shift = (by: number): void => {
    const next = betweenOf(from + by * (to - from), to + by * (to - from));
    if (next.kind === 'between' && next.to >= serverNow() && range.kind === 'between') {
      const minutes = Math.round((to - from) / 60_000);
      const known = RANGES.find((one) => one.minutes === minutes);
      onChange(known === undefined ? betweenOf(serverNow() - (to - from), serverNow()) : { kind: 'last', minutes });
    } else onChange(next);
  };
  return (
    <Group gap={4} wrap="nowrap">
      <Step label="One period earlier" onClick={() => shift(-1)}>
        <IconChevronLeft size={18} />
      </Step>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" leftSection={<IconCalendarTime size={16} />}>
            {rangeText(range)}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {RANGES.map(({ name, minutes, label }) => (
            <Menu.Item
              key={name}
              rightSection={range.kind === 'last' && range.minutes === minutes ? <IconCheck size={16} /> : undefined}
              onClick={() => onChange({ kind: 'last', minutes })}
            >
              {label}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setIsExact(true)}>From a time to a time…</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Step label="One period later" onClick={() => shift(1)} isOff={range.kind === 'last'}>
        <IconChevronRight size={18} />
      </Step>
      {isExact && (
        <ExactRange
          from={from}
          to={to}
          onClose={() => setIsExact(false)}
          onChoose={(next) => {
            setIsExact(false);
            onChange(next);
          }}
        />
      )}
    </Group>
  );
}

export function timesOf(range: TimeRange): { readonly from: number; readonly to: number } {
  if (range.kind === 'between') return range;
  const to = serverNow();
  return { from: to - range.minutes * 60_000, to };
}

interface StepProps {
  readonly label: string;
  readonly isOff?: boolean;
  readonly onClick: () => void;
  readonly children: React.ReactNode;
}

function Step({ label, isOff = false, onClick, children }: StepProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="default" className={classes.step} aria-label={label} disabled={isOff} onClick={onClick}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

interface ExactRangeProps {
  readonly from: number;
  readonly to: number;
  onChoose(range: TimeRange): void;
  readonly onClose: () => void;
}

function ExactRange({ from, to, onChoose, onClose }: ExactRangeProps) {
  const [start, setStart] = useState(localText(from));
  const [end, setEnd] = useState(localText(to));
  const times = { from: Date.parse(start), to: Date.parse(end) };
  const startFault = Number.isNaN(times.from) ? 'Choose a day and a time.' : null;
  const endFault = Number.isNaN(times.to)
    ? 'Choose a day and a time.'
    : times.to - times.from < 60_000
      ? 'The end is at least a minute after the start.'
      : times.to - times.from > 400 * 86_400_000
        ? 'At most 400 days can be shown.'
        : null;
  return (
    <Dialog title="From a time to a time" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (startFault === null && endFault === null) onChoose({ kind: 'between', ...times });
        }}
      >
        <Stack>
          <TextInput
            type="datetime-local"
            label="From"
            value={start}
            error={startFault}
            onChange={(event) => setStart(event.currentTarget.value)}
            data-autofocus
          />
          <TextInput
            type="datetime-local"
            label="To"
            description="In your own time zone."
            value={end}
            error={endFault}
            onChange={(event) => setEnd(event.currentTarget.value)}
          />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit">Show</Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** As a field for date and time holds it, in the viewer's zone. */
function localText(at: number): string {
  const local = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
