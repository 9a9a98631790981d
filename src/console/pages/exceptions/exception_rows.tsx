import { Checkbox, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconArrowDown } from '@tabler/icons-react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';

import type { DeployDay, ExceptionGroup } from '#console/api/exceptions.ts';
import { ExceptionRow } from '#console/pages/exceptions/exception_row.tsx';
import classes from '#console/pages/exceptions/exception_rows.module.css';
import type { GroupSort } from '#modules/exceptions/decide/group_sort.ts';

interface ExceptionRowsProps {
  readonly label: string;
  readonly groups: readonly ExceptionGroup[];
  /** Total, including rows not loaded yet. */
  readonly total: number;
  readonly sort: GroupSort;
  onSort(sort: GroupSort): void;
  readonly selected: ReadonlySet<string>;
  /** Called on a selection; without it, no row can be selected. */
  readonly onSelect?: ((groupIds: readonly string[], isSelected: boolean) => void) | undefined;
  /** Whether rows show boxes on a phone, where they have no room for them otherwise. */
  readonly isSelecting: boolean;
  /** Days of the bars, and the deploys on them. */
  readonly days: readonly string[];
  readonly deploys: readonly DeployDay[];
  readonly showsStatus: boolean;
  /** Whether the rows belong to the previous filter: they are shown until the new ones have arrived. */
  readonly isOld: boolean;
}

/** Height of a row, as in the style sheet. */
const ROW_HEIGHT = 52;
const ROW_HEIGHT_ON_PHONE = 96;
/** Rows rendered beyond the screen, so that a key finds the next one. */
const OVERSCAN = 12;

/** List of any length: only the rows on the screen are in the document. */
export function ExceptionRows(props: ExceptionRowsProps) {
  const { label, groups, total, sort, onSort, selected, onSelect, isSelecting } = props;
  const { days, deploys, showsStatus, isOld } = props;
  // Pages of the list repeat the deploys of services that are on several pages.
  const distinct = new Map(deploys.map((deploy) => [`${deploy.serviceId} ${deploy.date}`, deploy]));
  const deploysOf = Map.groupBy(distinct.values(), ({ serviceId }) => serviceId);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const rowHeight = isPhone ? ROW_HEIGHT_ON_PHONE : ROW_HEIGHT;
  const list = useRef<HTMLUListElement>(null);
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const top = (list.current?.getBoundingClientRect().top ?? 0) + window.scrollY;
    if (Math.abs(top - offset) > 1) setOffset(top);
  });
  const rows = useWindowVirtualizer({
    count: groups.length,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    scrollMargin: offset,
    getItemKey: (index) => groups[index]?.groupId ?? index,
  });
  useLayoutEffect(() => rows.measure(), [rows, rowHeight]);
  const selectedCount = groups.filter(({ groupId }) => selected.has(groupId)).length;
  return (
    <div className={classes.frame} aria-busy={isOld}>
      <div className={classes.head}>
        <div>
          {onSelect !== undefined && (
            <Checkbox
              checked={selectedCount > 0 && selectedCount === groups.length}
              indeterminate={selectedCount > 0 && selectedCount < groups.length}
              onChange={(event) =>
                onSelect(
                  groups.map(({ groupId }) => groupId),
                  event.currentTarget.checked,
                )
              }
              aria-label={`Select all ${groups.length} that are loaded`}
            />
          )}
        </div>
        <span>Exception</span>
        <span>Last 14 days</span>
        <SortButton sort="events" current={sort} onSort={onSort} title="Events" />
        <SortButton sort="users" current={sort} onSort={onSort} title="Users" />
        <span className={classes.release}>Release</span>
        <SortButton
          sort={sort === 'last' ? 'first' : 'last'}
          current={sort}
          isOn={sort === 'last' || sort === 'first'}
          onSort={onSort}
          title={sort === 'first' ? 'First seen' : 'Last seen'}
        />
      </div>
      <ul className={classes.list} ref={list} aria-label={label} style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, key, start }) => {
          const group = groups[index];
          if (group === undefined) return null;
          return (
            <ExceptionRow
              key={key}
              group={group}
              sort={sort}
              days={days}
              deploys={deploysOf.get(group.serviceId) ?? []}
              showsStatus={showsStatus}
              isSelected={selected.has(group.groupId)}
              onSelect={onSelect && ((isSelected) => onSelect([group.groupId], isSelected))}
              isSelecting={isSelecting}
              position={index + 1}
              total={total}
              style={{ transform: `translateY(${start - offset}px)` }}
            />
          );
        })}
      </ul>
    </div>
  );
}

interface SortButtonProps {
  readonly sort: GroupSort;
  readonly current: GroupSort;
  readonly isOn?: boolean;
  onSort(sort: GroupSort): void;
  readonly title: string;
}

const SORT_WORDS: Record<GroupSort, string> = {
  last: 'when they were last seen',
  first: 'when they were first seen',
  events: 'number of events',
  users: 'number of users',
};

function SortButton({ sort, current, isOn = sort === current, onSort, title }: SortButtonProps) {
  return (
    <UnstyledButton
      className={classes.sort}
      data-on={isOn ? '' : undefined}
      onClick={() => onSort(sort)}
      title={`Sort by ${SORT_WORDS[sort]}`}
      aria-label={`${title}: sort by ${SORT_WORDS[sort]}`}
      aria-pressed={isOn}
    >
      {isOn && <IconArrowDown size={12} aria-hidden />}
      {title}
    </UnstyledButton>
  );
}
