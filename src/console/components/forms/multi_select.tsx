import { Pill, PillsInput } from '@mantine/core';
import { type ReactNode, useId, useRef } from 'react';

import { type Option, useOptionList } from '#console/components/forms/option_list.tsx';

interface SeveralChoicesProps {
  readonly label: string;
  readonly placeholder: string;
  /** Options that can be added; the caller searches them for what is typed. */
  readonly options: readonly Option[];
  readonly chosen: readonly Option[];
  onChange(values: string[]): void;
  readonly typed: string;
  onSearch(text: string): void;
  readonly emptyText: string;
  readonly error?: ReactNode;
  readonly 'data-focus'?: string;
}

/** Select of any number of options. Backspace in the empty field removes the last one. */
export function MultiSelect(props: SeveralChoicesProps) {
  const { label, placeholder, options, chosen, onChange, typed, onSearch, emptyText, error } = props;
  const id = useId();
  const field = useRef<HTMLDivElement>(null);
  const values = chosen.map(({ value }) => value);
  const list = useOptionList({
    label,
    field,
    options,
    first: typed.trim() === '' ? -1 : 0,
    emptyText,
    onPick({ value }) {
      onSearch('');
      onChange([...values, value]);
    },
  });
  return (
    <>
      <PillsInput ref={field} id={id} label={label} error={error} onClick={() => list.open()}>
        <Pill.Group>
          {chosen.map((option) => (
            <Pill
              key={option.value}
              withRemoveButton
              onRemove={() => onChange(values.filter((value) => value !== option.value))}
            >
              {option.label}
            </Pill>
          ))}
          <PillsInput.Field
            {...list.fieldProps}
            id={id}
            placeholder={placeholder}
            data-focus={props['data-focus']}
            value={typed}
            onChange={(event) => {
              onSearch(event.currentTarget.value);
              list.open();
            }}
            onKeyDown={(event) => {
              if (event.key === 'Backspace' && typed === '') onChange(values.slice(0, -1));
              else list.fieldProps.onKeyDown(event);
            }}
            onBlur={() => {
              onSearch('');
              list.close();
            }}
          />
        </Pill.Group>
      </PillsInput>
      {list.list}
    </>
  );
}
