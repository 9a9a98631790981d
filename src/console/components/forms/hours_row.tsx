import { ActionIcon, Checkbox, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';

import classes from '#console/components/forms/hours_row.module.css';
import { IconTrash } from '#console/icons.ts';

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

interface HoursRow {
  /** Days on which the hours begin, from Monday as 1. */
  readonly days: readonly number[];
  readonly from: string;
  readonly to: string;
}

interface HoursRowFieldsProps {
  readonly label: string;
  readonly row: HoursRow;
  readonly faults?: { readonly days?: string; readonly from?: string; readonly to?: string } | undefined;
  onChange(changes: Partial<HoursRow>): void;
  /** Removes the row; undefined for the only one. */
  readonly onRemove: (() => void) | undefined;
  /** Further fields beside the times. */
  readonly children?: ReactNode;
}

/** Fields of one pair of times for the ticked days of the week. */
export function HoursRowFields({ label, row, faults, onChange, onRemove, children }: HoursRowFieldsProps) {
  return (
    <div className={classes.row} role="group" aria-label={label}>
      <Checkbox.Group
        label="Days on which they start"
        value={row.days.map(String)}
        onChange={(values) => onChange({ days: values.map(Number).toSorted((a, b) => a - b) })}
        error={faults?.days}
      >
        <div className={classes.days}>
          {DAYS.map((day, place) => (
            <Checkbox key={day} value={String(place + 1)} label={day} />
          ))}
        </div>
      </Checkbox.Group>
      <div className={`${classes.times} wraps spaced`}>
        {/* Text fields, since a field for times of the day has no 24:00. */}
        <TextInput
          label="From"
          placeholder="09:00"
          maxLength={5}
          value={row.from}
          onChange={(event) => onChange({ from: event.currentTarget.value })}
          error={faults?.from}
        />
        <TextInput
          label="To"
          placeholder="17:00"
          maxLength={5}
          value={row.to}
          onChange={(event) => onChange({ to: event.currentTarget.value })}
          error={faults?.to}
        />
        {children}
        {onRemove !== undefined && (
          <ActionIcon
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={`Remove ${label.toLowerCase()}`}
            onClick={onRemove}
          >
            <IconTrash size={18} />
          </ActionIcon>
        )}
      </div>
    </div>
  );
}
