import { TextInput, type TextInputProps } from '@mantine/core';
import { useRef, useState } from 'react';

import { lazyPart } from '#console/components/lazy_part.tsx';
import { IconCalendar } from '#console/icons.ts';
import classes from '#console/components/forms/time_field.module.css';

const KINDS = {
  'datetime-local': { form: 'YYYY-MM-DD HH:MM', pattern: /^(\d{4}-\d\d-\d\d)[ T]+(\d?\d:\d\d)$/ },
  date: { form: 'YYYY-MM-DD', pattern: /^(\d{4}-\d\d-\d\d)$/ },
  time: { form: 'HH:MM', pattern: /^(\d?\d:\d\d)$/ },
} as const;

interface TimeFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'type'> {
  /** Kind of the value; a day and a time by default. */
  readonly kind?: keyof typeof KINDS;
  /** `2026-11-30T14:05`, `2026-11-30` or `14:05`; empty for none. */
  readonly value: string;
  /** Called with the value, which is empty while the text is none, and with the text itself. */
  onChange(value: string, text: string): void;
}

interface Typed {
  readonly text: string;
  /** Value of the text. */
  readonly of: string;
  /** Value of the field before somebody typed. */
  readonly before: string;
}

const Calendar = lazyPart(() => import('#console/components/forms/calendar.tsx').then((m) => m.Calendar));

/** Length of the day in the text of the field, behind which the time stands. */
const DAY_LENGTH = 'YYYY-MM-DD'.length;

/**
 * Field for a day, a time or both, in the one form of the console, which a browser's own fields take from its language. A
 * press on the day opens a calendar, which leaves as soon as somebody types.
 */
export function TimeField({ kind = 'datetime-local', value, onChange, ...others }: TimeFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<Typed | null>(null);
  const [isOpen, setIsOpen] = useState(false);
  const { form } = KINDS[kind];
  // What is typed stays as it is while its value is what the field has told, or was not taken.
  const shown = typed !== null && (value === typed.of || value === typed.before) ? typed : null;
  const change = (text: string): void => {
    const told = read(text, kind);
    setIsOpen(false);
    setTyped({ text, of: told, before: shown?.before ?? value });
    onChange(told, text);
  };
  const toggle = (): void => {
    field.current?.focus();
    setIsOpen(!isOpen);
  };
  const choose = (day: string): void => {
    const chosen = kind === 'date' ? day : `${day}T${value.slice(DAY_LENGTH + 1) || '00:00'}`;
    setIsOpen(false);
    setTyped(null);
    onChange(chosen, chosen);
    // The time is what somebody types next.
    requestAnimationFrame(() => field.current?.setSelectionRange(DAY_LENGTH + 1, form.length));
  };
  return (
    <>
      <TextInput
        placeholder={form}
        autoComplete="off"
        maxLength={20}
        {...others}
        ref={field}
        value={shown?.text ?? value.replace('T', ' ')}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        onClick={({ currentTarget: { selectionStart } }) =>
          setIsOpen(kind !== 'time' && !isOpen && (value === '' || (selectionStart ?? 0) <= DAY_LENGTH))
        }
        onKeyDownCapture={(event) => {
          if (event.key !== 'Escape' || !isOpen) return;
          event.stopPropagation();
          setIsOpen(false);
        }}
        onBlur={() => {
          setIsOpen(false);
          if (value !== '') setTyped(null);
        }}
        {...(isOpen && { 'data-mantine-stop-propagation': true })}
        {...(kind !== 'time' && { rightSection: <CalendarButton onPress={toggle} /> })}
      />
      {isOpen && <Calendar field={field} day={value.slice(0, DAY_LENGTH)} onChoose={choose} />}
    </>
  );
}

/** Button that keeps the focus in the field, where the day can be typed. */
function CalendarButton({ onPress }: { readonly onPress: () => void }) {
  return (
    <button
      type="button"
      className={classes.open}
      tabIndex={-1}
      aria-label="Choose in a calendar"
      onMouseDown={(event) => event.preventDefault()}
      onClick={onPress}
    >
      <IconCalendar size={16} aria-hidden />
    </button>
  );
}

/** Returns the value that a text means; empty if it means none, as on a day that there is not. */
function read(text: string, kind: keyof typeof KINDS): string {
  const match = KINDS[kind].pattern.exec(text.trim());
  if (match === null) return '';
  const parts = match.slice(1).map((part) => (/^\d:/.test(part) ? `0${part}` : part));
  const value = parts.join('T');
  const [day = '2000-01-01', time = '00:00'] = kind === 'time' ? [undefined, value] : parts;
  const at = new Date(`${day}T${time}Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(`${day}T${time}`) && day >= '1000' ? value : '';
}

interface DayFieldProps extends Omit<TimeFieldProps, 'kind' | 'value' | 'onChange'> {
  readonly value: string | undefined;
  /** Called with a whole day (YYYY-MM-DD), or undefined once the field is empty. */
  onChange(day: string | undefined): void;
}

/** Field for a day of a filter. While the day is half typed, the filter stays as it is. */
export function DayField({ value = '', onChange, ...others }: DayFieldProps) {
  return (
    <TimeField
      {...others}
      kind="date"
      value={value}
      onChange={(day, text) => {
        if (day !== '' || text === '') onChange(day === '' ? undefined : day);
      }}
    />
  );
}
