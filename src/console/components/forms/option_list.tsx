import { IconCheck } from '@tabler/icons-react';
import { type RefObject, useLayoutEffect, useRef } from 'react';

import classes from '#console/components/forms/option_list.module.css';

/** Option of a list. */
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
  /** Field that the list belongs to. */
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

export const optionId = (listId: string, index: number): string => `${listId}-${index}`;

/** List of the options of a field, below or above it, on top of everything else. The focus stays in the field. */
export function OptionList({ id, label, field, options, active, chosen, emptyText, onPick }: OptionListProps) {
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
      {options.length === 0 && <div className={classes.empty}>{emptyText}</div>}
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
        <div role="presentation" className={classes.group}>
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
        className={classes.option}
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

/** Keeps a list at its field, on the side with more room, while the page scrolls or the keyboard of a phone opens. */
function usePlaceAt(field: RefObject<HTMLElement | null>, list: RefObject<HTMLElement | null>): void {
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
      const isAbove = below < Math.min(scrollHeight, HEIGHT_MAX_PX) && above > below;
      style.left = `${left}px`;
      style.width = `${width}px`;
      style.maxHeight = `${Math.max(0, Math.min(HEIGHT_MAX_PX, isAbove ? above : below))}px`;
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
