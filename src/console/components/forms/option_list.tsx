import { type KeyboardEvent, type ReactNode, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react';

import classes from '#console/components/forms/option_list.module.css';
import { IconCheck } from '#console/icons.ts';

export interface Option {
  readonly value: string;
  readonly label: string;
  /** Heading of the group, above its consecutive options. */
  readonly group?: string;
  readonly isDisabled?: boolean;
}

interface OptionListProps {
  readonly id: string;
  readonly label: string;
  readonly field: RefObject<HTMLElement | null>;
  readonly options: readonly Option[];
  /** Index of the option that Enter chooses; -1 for none. */
  readonly active: number;
  readonly chosen: string | null;
  /** Text shown if there is no option. */
  readonly emptyText: string | undefined;
  onPick(option: Option): void;
}

/** Row that says how many options are left out; none for 0, and without a number for Infinity. */
export function moreOptions(count: number): Option[] {
  if (count <= 0) return [];
  const label =
    count === Infinity ? 'Type part of a name to find others' : `${count.toLocaleString()} more: type part of a name`;
  return [{ value: '\n more', label, isDisabled: true }];
}

const optionId = (listId: string, index: number): string => `${listId}-${index}`;

/** List of the options of a field, below or above it, on top of everything else. The focus stays in the field. */
function OptionList({ id, label, field, options, active, chosen, emptyText, onPick }: OptionListProps) {
  const list = useRef<HTMLDivElement>(null);
  usePlaceAt(field, list);
  useLayoutEffect(() => {
    list.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  return (
    <div
      ref={list}
      id={id}
      // A list without an option is none to a reader.
      {...(options.length > 0 && { role: 'listbox', 'aria-label': label })}
      popover="manual"
      className={classes.list}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
    >
      {options.length === 0 && <div className={`${classes.empty} dimmed small`}>{emptyText}</div>}
      {options.map((option, index) => (
        <OptionRow
          key={option.value}
          id={optionId(id, index)}
          option={option}
          heading={option.group === options[index - 1]?.group ? undefined : option.group}
          isActive={index === active}
          isChosen={option.value === chosen}
          onPick={onPick}
        />
      ))}
    </div>
  );
}

interface OptionRowProps {
  readonly id: string;
  readonly option: Option;
  readonly heading: string | undefined;
  readonly isActive: boolean;
  readonly isChosen: boolean;
  onPick(option: Option): void;
}

function OptionRow({ id, option, heading, isActive, isChosen, onPick }: OptionRowProps) {
  return (
    <>
      {heading !== undefined && (
        <div role="presentation" className={`${classes.group} dimmed tiny`}>
          {heading}
        </div>
      )}
      {/* Keys are pressed in the field. */}
      {/* eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus */}
      <div
        id={id}
        role="option"
        aria-selected={isChosen}
        aria-disabled={option.isDisabled === true || undefined}
        data-active={isActive || undefined}
        className={`${classes.option} row spaced small`}
        onClick={() => option.isDisabled !== true && onPick(option)}
      >
        {isChosen && <IconCheck size={14} aria-hidden />}
        <span title={option.label}>{option.label}</span>
      </div>
    </>
  );
}

const GAP_PX = 4;
const EDGE_PX = 8;
const HEIGHT_MAX_PX = 280;

/**
 * Keeps a popover at its field, on the side with more room, while the page scrolls or the keyboard of a phone opens. It is
 * as wide as the field unless it has a width in pixels of its own.
 */
export function usePlaceAt(
  field: RefObject<HTMLElement | null>,
  list: RefObject<HTMLElement | null>,
  heightMax = HEIGHT_MAX_PX,
  ownWidth?: number,
): void {
  useLayoutEffect(() => {
    list.current?.showPopover?.();
  }, [list]);
  // Its height changes with its options.
  useLayoutEffect(() => {
    const place = (): void => {
      if (field.current === null || list.current === null) return;
      const { top, bottom, left, width } = field.current.getBoundingClientRect();
      const { style, scrollHeight } = list.current;
      const shown = window.visualViewport?.height ?? window.innerHeight;
      const below = shown - bottom - GAP_PX - EDGE_PX;
      const above = top - GAP_PX - EDGE_PX;
      const isAbove = below < Math.min(scrollHeight, heightMax) && above > below;
      const shownWidth = ownWidth ?? width;
      style.left = `${Math.max(0, Math.min(left, window.innerWidth - shownWidth - EDGE_PX))}px`;
      style.width = `${shownWidth}px`;
      style.maxHeight = `${Math.max(0, Math.min(heightMax, isAbove ? above : below))}px`;
      style.top = isAbove ? 'auto' : `${bottom + GAP_PX}px`;
      style.bottom = isAbove ? `${document.documentElement.clientHeight - top + GAP_PX}px` : 'auto';
    };
    place();
    const options = { capture: true, passive: true };
    window.addEventListener('scroll', place, options);
    window.addEventListener('resize', place);
    window.visualViewport?.addEventListener('resize', place);
    return () => {
      window.removeEventListener('scroll', place, options);
      window.removeEventListener('resize', place);
      window.visualViewport?.removeEventListener('resize', place);
    };
  });
}

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
  open(): void;
  close(): void;
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
