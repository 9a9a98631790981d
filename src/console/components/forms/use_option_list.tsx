import { type KeyboardEvent, type ReactNode, type RefObject, useId, useState } from 'react';

import { type Option, OptionList, optionId } from '#console/components/forms/option_list.tsx';

interface OptionListSettings {
  readonly label: string;
  /** Element that the list stands below. */
  readonly field: RefObject<HTMLElement | null>;
  readonly options: readonly Option[];
  /** Index of the option that Enter chooses before an arrow was pressed; -1 for none. */
  readonly first: number;
  readonly chosen?: string | null;
  /** Text shown if there is no option; without it no list is shown then. */
  readonly emptyText?: string | undefined;
  onPick(option: Option): void;
}

interface FieldProps {
  readonly role: 'combobox';
  readonly autoComplete: 'off';
  readonly 'aria-autocomplete': 'list';
  readonly 'aria-haspopup': 'listbox';
  readonly 'aria-expanded': boolean;
  readonly 'aria-controls': string | undefined;
  readonly 'aria-activedescendant': string | undefined;
  readonly 'data-mantine-stop-propagation': true | undefined;
  onKeyDown(event: KeyboardEvent<HTMLInputElement>): void;
}

interface OptionListState {
  readonly isOpen: boolean;
  /** Opens the list, with no option active. */
  open(): void;
  close(): void;
  /** Props for the input of the field. */
  readonly fieldProps: FieldProps;
  readonly list: ReactNode;
}

/** Keeps the list of options of a field: whether it is open, and which option the arrows have reached. */
export function useOptionList(settings: OptionListSettings): OptionListState {
  const { label, field, options, first, chosen = null, emptyText, onPick } = settings;
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const [reached, setReached] = useState<number | null>(null);
  const isShown = isOpen && (options.length > 0 || emptyText !== undefined);
  const active = isShown ? Math.min(reached ?? first, options.length - 1) : -1;
  const activeOption = options[active];
  const open = (): void => {
    setIsOpen(true);
    setReached(null);
  };
  const close = (): void => setIsOpen(false);
  const pick = (option: Option): void => {
    close();
    onPick(option);
  };
  const move = (by: 1 | -1): void => {
    const from = isShown ? active : options.findIndex(({ value }) => value === chosen) - (chosen === null ? 0 : by);
    setIsOpen(true);
    setReached(nextEnabled(options, from, by));
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    const isPlain = !event.nativeEvent.isComposing && !event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isPlain || event.isDefaultPrevented()) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter' && activeOption !== undefined && activeOption.isDisabled !== true) {
      event.preventDefault();
      pick(activeOption);
    } else if (event.key === 'Escape') close();
  };
  return {
    isOpen: isShown,
    open,
    close,
    fieldProps: {
      role: 'combobox',
      autoComplete: 'off',
      'aria-autocomplete': 'list',
      'aria-haspopup': 'listbox',
      'aria-expanded': isShown,
      'aria-controls': isShown ? id : undefined,
      'aria-activedescendant': activeOption === undefined ? undefined : optionId(id, active),
      // Escape closes the list, not the dialog around it.
      'data-mantine-stop-propagation': isShown || undefined,
      onKeyDown,
    },
    list: isShown && <OptionList {...{ id, label, field, options, active, chosen, emptyText }} onPick={pick} />,
  };
}

/** Returns the index of the next option that can be chosen, wrapping at the ends; -1 if there is none. */
function nextEnabled(options: readonly Option[], from: number, by: 1 | -1): number {
  const { length } = options;
  const begin = from < 0 && by === -1 ? length : from;
  for (let step = 1; step <= length; step += 1) {
    const index = (begin + by * step + 2 * length) % length;
    if (options[index]?.isDisabled !== true) return index;
  }
  return -1;
}
