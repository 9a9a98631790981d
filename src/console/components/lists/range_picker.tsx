import { Button, Group } from '@mantine/core';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { IconButton } from '#console/components/buttons.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import classes from '#console/components/lists/range_picker.module.css';
import { betweenOf, RANGES, rangeText, type TimeRange } from '#console/components/text/time_range.ts';
import { IconCalendarTime, IconCheck, IconChevronLeft, IconChevronRight } from '#console/icons.ts';

const ExactRange = lazyDialog(() => import('#console/components/lists/exact_range.tsx').then((m) => m.ExactRange));

/** Picker of the period that a page shows; the arrows go one period earlier or later. */
export function RangePicker({ range, onChange }: { readonly range: TimeRange; onChange(range: TimeRange): void }) {
  const [isExact, setIsExact] = useState(false);
  const { from, to } = timesOf(range);
  const shift = (by: number): void => {
    const next = betweenOf(from + by * (to - from), to + by * (to - from));
    if (next.kind === 'between' && next.to >= serverNow() && range.kind === 'between') {
      const minutes = Math.round((to - from) / 60_000);
      const range = RANGES.find((candidate) => candidate.minutes === minutes);
      onChange(range === undefined ? betweenOf(serverNow() - (to - from), serverNow()) : { kind: 'last', minutes });
    } else onChange(next);
  };
  return (
    <Group gap={4} wrap="nowrap">
      <Step label="One period earlier" onClick={() => shift(-1)}>
        <IconChevronLeft size={18} />
      </Step>
      <ActionMenu
        button={(props) => (
          <Button variant="default" leftSection={<IconCalendarTime size={16} />} {...props}>
            {rangeText(range)}
          </Button>
        )}
        entries={[
          ...RANGES.map(({ minutes, label }) => ({
            text: label,
            mark: range.kind === 'last' && range.minutes === minutes ? <IconCheck size={16} /> : undefined,
            onClick: () => onChange({ kind: 'last', minutes }),
          })),
          { text: 'Custom time range…', isApart: true, onClick: () => setIsExact(true) },
        ]}
      />
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
    <IconButton label={label} variant="default" className={classes.step} disabled={isOff} onClick={onClick}>
      {children}
    </IconButton>
  );
}
