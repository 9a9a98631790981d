import { CloseButton, TextInput, type TextInputProps } from '@mantine/core';
import { useRef, useState } from 'react';

import { moreOptions, type Option, useOptionList } from '#console/components/forms/option_list.tsx';
import { IconSelector } from '#console/icons.ts';

interface ChoiceProps extends Omit<TextInputProps, 'label' | 'value' | 'onChange' | 'rightSection' | 'ref'> {
  /** Label above the field, unless `isLabelHidden`. */
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly options: readonly Option[];
  readonly value: string | null;
  onChange(value: string | null): void;
  /**
   * Called with the typed text, and with '' at the end. If set, the caller searches the options, and the field does not
   * narrow them.
   */
  readonly onSearch?: (text: string) => void;
  /** Text shown if there is no option. */
  readonly emptyText?: string;
  /** Meaning of the cleared field; without it the field cannot be cleared. */
  readonly clearLabel?: string;
  readonly opensOnFocus?: boolean;
  readonly optionsMax?: number;
  /** Number of options that match and are not among the options; Infinity if it is not known. */
  readonly further?: number;
  /** Called when a pointer or the focus comes near, so that options can be prefetched. */
  readonly onNear?: () => void;
}

/** Select of one option of a list, which is filtered by the typed text. */
export function Choice(props: ChoiceProps) {
  const { label, isLabelHidden = false, options, value, onChange, onSearch, emptyText, clearLabel, ...rest } = props;
  const { opensOnFocus = true, optionsMax = Infinity, further = 0, onNear, ...others } = rest;
  const [typed, setTyped] = useState<string | null>(null);
  const [picked, setPicked] = useState<Option | null>(null);
  const field = useRef<HTMLInputElement>(null);
  const chosen = options.find((option) => option.value === value) ?? (picked?.value === value ? picked : null);
  const isMeant = (option: Option): boolean => option.label.toLowerCase().includes((typed ?? '').trim().toLowerCase());
  const narrowed = onSearch === undefined && typed !== null ? options.filter(isMeant) : options;
  const cut = narrowed.slice(0, optionsMax);
  const shown = [...cut, ...moreOptions(narrowed.length - cut.length + further)];
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
      typed === null || typed.trim() === ''
        ? -1
        : shown.findIndex((option) => option.isDisabled !== true && isMeant(option)),
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

interface ZoneSelectProps {
  readonly value: string;
  readonly onChange: (zone: string) => void;
  readonly description?: string;
  readonly error?: string | undefined;
}

/** Select of a time zone by its IANA name. A zone that this browser does not know is kept. */
export function ZoneSelect({ value, onChange, description, error }: ZoneSelectProps) {
  const [zones] = useState(() => Intl.supportedValuesOf('timeZone'));
  return (
    <Choice
      label="Time zone"
      description={description}
      options={(zones.includes(value) ? zones : [value, ...zones]).map((zone) => ({ value: zone, label: zone }))}
      value={value}
      onChange={(zone) => zone !== null && onChange(zone)}
      optionsMax={30}
      emptyText="No zone has this name"
      error={error}
    />
  );
}
