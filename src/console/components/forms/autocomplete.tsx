import { TextInput, type TextInputProps } from '@mantine/core';
import { useRef, useState } from 'react';

import { moreOptions, useOptionList } from '#console/components/forms/option_list.tsx';

interface SuggestionsProps extends Omit<TextInputProps, 'value' | 'onChange' | 'ref'> {
  /** Label of the list, and of the field if it has no label. */
  readonly listLabel: string;
  readonly value: string;
  onChange(text: string): void;
  readonly suggestions: readonly string[];
  /** Whether the server has searched for what is typed: nothing is filtered here then. */
  readonly isSearched?: boolean;
  readonly suggestionsMax?: number;
  /** Number of suggestions that match and are not among them. */
  readonly further?: number;
  readonly opensOnFocus?: boolean;
}

export function Autocomplete(props: SuggestionsProps) {
  const { listLabel, value, onChange, suggestions, isSearched = false, suggestionsMax = 20, ...rest } = props;
  const { opensOnFocus = true, further = 0, onFocus, onBlur, ...others } = rest;
  const field = useRef<HTMLInputElement>(null);
  // The text already in the field is not a search: all options are offered.
  const [isTyped, setIsTyped] = useState(false);
  const text = value.trim().toLowerCase();
  const narrowed =
    isSearched || !isTyped ? suggestions : suggestions.filter((suggestion) => suggestion.toLowerCase().includes(text));
  const fitting = [...new Set(narrowed)];
  const shown = fitting.slice(0, suggestionsMax);
  const list = useOptionList({
    label: listLabel,
    field,
    options: [
      ...shown.map((text) => ({ value: text, label: text })),
      ...moreOptions(shown.length === 0 ? 0 : fitting.length - shown.length + further),
    ],
    first: -1,
    chosen: value,
    onPick(option) {
      setIsTyped(false);
      onChange(option.value);
    },
  });
  return (
    <>
      <TextInput
        {...others}
        {...(others.label === undefined && { 'aria-label': listLabel })}
        {...list.fieldProps}
        ref={field}
        value={value}
        onChange={(event) => {
          setIsTyped(true);
          onChange(event.currentTarget.value);
          list.open();
        }}
        onFocus={(event) => {
          onFocus?.(event);
          if (opensOnFocus) list.open();
        }}
        onClick={() => {
          if (!list.isOpen) list.open();
        }}
        onBlur={(event) => {
          onBlur?.(event);
          setIsTyped(false);
          list.close();
        }}
      />
      {list.list}
    </>
  );
}
