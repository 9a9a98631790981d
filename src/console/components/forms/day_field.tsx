import { TextInput, type TextInputProps } from '@mantine/core';

import { useTypedText } from '#console/components/lists/search_field.tsx';

interface DayFieldProps extends Omit<TextInputProps, 'value' | 'onChange' | 'type'> {
  readonly value: string | undefined;
  /** Called with a whole day (YYYY-MM-DD), or undefined once the field is empty. */
  onChange(day: string | undefined): void;
}

/** Field for a day of a filter. While the day is half typed, the filter stays as it is. */
export function DayField({ value = '', onChange, ...others }: DayFieldProps) {
  const [typed, type, keep] = useTypedText(value, (day) => onChange(day === '' ? undefined : day));
  return (
    <TextInput
      {...others}
      type="date"
      value={typed}
      onChange={({ currentTarget: { value: day, validity } }) => {
        // Each digit of a year makes a date: of the year 2, of the year 20. A half-typed date has no value.
        const isWhole = day === '' ? !validity.badInput : day >= '1000';
        if (isWhole) type(day);
        else keep(day);
      }}
    />
  );
}
