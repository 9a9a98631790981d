import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useRef, useState } from 'react';

import type { Option } from '#console/components/option_list.tsx';
import { useOptionList } from '#console/components/use_option_list.tsx';

interface ChoiceProps extends Omit<TextInputProps, 'label' | 'value' | 'onChange' | 'rightSection' | 'ref'> {
  /** Shown above it, unless `isLabelHidden`. */
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly options: readonly Option[];
  readonly value: string | null;
  onChange(value: string | null): void;
  /** What is typed, and '' once it is over: the options are found by others, not narrowed here. */
  readonly onSearch?: (text: string) => void;
  /** Said where there is no option. */
  readonly emptyText?: string;
  /** What clearing it means; without this it cannot be cleared. */
  readonly clearLabel?: string;
  readonly opensOnFocus?: boolean;
  readonly optionsMax?: number;
  /** Somebody comes near, by pointer or key: options can be asked for. */
  readonly onNear?: () => void;
}

/** Selects one of a list, which is narrowed by what is typed. */
export function Choice(props: ChoiceProps) {
  const { label, isLabelHidden = false, options, value, onChange, onSearch, emptyText, clearLabel, ...rest } = props;
  const { opensOnFocus = true, optionsMax = Infinity, onNear, ...others } = rest;
  const [typed, setTyped] = useState<string | null>(null);
  const [picked, setPicked] = useState<Option | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const chosen = options.find((option) => option.value === value) ?? (picked?.value === value ? picked : null);
  const isMeant = (option: Option): boolean => option.label.toLowerCase().includes((typed ?? '').trim().toLowerCase());
  const narrowed = onSearch === undefined && typed !== null ? options.filter(isMeant) : options;
  const shown = narrowed.slice(0, optionsMax);
  const type = (text: string | null): void => {
    setTyped(text);
    onSearch?.(text ?? '');
  };
  const clear = (): void => {
    type(null);
    onChange(null);
  };
  const list = useOptionList({
    label,
    field,
    options: shown,
    // Options that were found for other letters may still be shown.
    first:
      typed === null || typed.trim() === '' ? -1 : shown.findIndex((one) => one.isDisabled !== true && isMeant(one)),
    chosen: value,
    emptyText,
    onPick(option) {
      setPicked(option);
      type(null);
      if (option.value !== value) onChange(option.value);
    },
  });
  const isClearable = clearLabel !== undefined && value !== null && props.disabled !== true;
  return (
    <>
      <TextInput
        {...others}
        {...(isLabelHidden ? { 'aria-label': label } : { label })}
        {...list.fieldProps}
        ref={field}
        value={typed ?? chosen?.label ?? ''}
        rightSection={
          isClearable ? (
            <CloseButton
              size="sm"
              tabIndex={-1}
              aria-label={clearLabel}
              onMouseDown={(event) => event.preventDefault()}
              onClick={clear}
            />
          ) : (
            <IconSelector size={16} color="var(--mantine-color-dimmed)" aria-hidden />
          )
        }
        rightSectionPointerEvents={isClearable ? 'all' : 'none'}
        onPointerEnter={onNear}
        onChange={(event) => {
          type(event.currentTarget.value);
          list.open();
        }}
        onFocus={(event) => {
          onNear?.();
          event.currentTarget.select();
          if (opensOnFocus) list.open();
        }}
        onClick={(event) => {
          if (typed === null) event.currentTarget.select();
          if (!list.isOpen) list.open();
        }}
        onBlur={() => {
          if (typed === '' && isClearable) onChange(null);
          if (typed !== null) type(null);
          list.close();
        }}
      />
      {list.list}
    </>
  );
}
