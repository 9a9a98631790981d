import { UnstyledButton } from '@mantine/core';
import {
  createSortedRowModel,
  rowSortingFeature,
  sortFn_alphanumeric,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { type ReactNode, useMemo } from 'react';

import classes from '#console/components/lists/data_table.module.css';
import { IconArrowDown, IconArrowUp } from '#console/icons.ts';

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric, basic: sortFn_basic },
});

export interface Column<Item> {
  readonly id: string;
  readonly title: string;
  cell(item: Item): ReactNode;
  /** Returns the value that rows are sorted by. Without it the column cannot be sorted. */
  sortBy?(item: Item): string | number;
  readonly isRightAligned?: boolean;
  /** Whether the column is the heading of the card on a phone. */
  readonly isMain?: boolean;
  /** Share of the desktop width, in percent, for names: longer ones are cut. */
  readonly widthPercent?: number;
  /** Whether the column is hidden on a phone. */
  readonly isDesktopOnly?: boolean;
  /** Whether only screen readers get the title, for example above buttons. */
  readonly isTitleHidden?: boolean;
}

interface DataTableProps<Item> {
  readonly label: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[];
  keyOf(item: Item): string;
  readonly sortedBy?: { readonly id: string; readonly desc: boolean };
}

/** A table on a desktop, cards on a phone. */
export function DataTable<Item extends object>({ label, columns, items, keyOf, sortedBy }: DataTableProps<Item>) {
  const data = useMemo(() => [...items], [items]);
  const definitions = useMemo(
    () =>
      columns.map(({ id, sortBy }) => ({
        id,
        accessorFn: (item: Item) => sortBy?.(item) ?? '',
        enableSorting: sortBy !== undefined,
        sortFn: 'alphanumeric' as const,
      })),
    [columns],
  );
  const table = useTable({
    features,
    columns: definitions,
    data,
    getRowId: keyOf,
    enableSortingRemoval: false,
    initialState: { sorting: sortedBy === undefined ? [] : [sortedBy] },
  });
  const columnOf = new Map(columns.map((column) => [column.id, column]));
  return (
    <div className="surface">
      <table className={classes.table} aria-label={label}>
        <thead>
          {table.getHeaderGroups().map((group) => (
            <tr key={group.id}>
              {group.headers.map(({ id, column }) => (
                <Head
                  key={id}
                  column={columnOf.get(id)}
                  sorted={column.getIsSorted()}
                  onSort={column.getCanSort() ? () => column.toggleSorting() : undefined}
                />
              ))}
            </tr>
          ))}
        </thead>
        <tbody>
          {table.getRowModel().rows.map(({ id, original }) => (
            <tr key={id} className={classes.row} data-row={id}>
              {columns.map((column) => (
                <Cell key={column.id} column={column} item={original} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HeadProps<Item> {
  readonly column: Column<Item> | undefined;
  readonly sorted: false | 'asc' | 'desc';
  readonly onSort: (() => void) | undefined;
}

function Head<Item>({ column, sorted, onSort }: HeadProps<Item>) {
  if (column === undefined) return null;
  const { title, isRightAligned = false, isTitleHidden = false, widthPercent } = column;
  const order = sorted === false ? undefined : sorted === 'asc' ? 'ascending' : 'descending';
  return (
    <th
      className={`${classes.head} ${isRightAligned ? classes.end : ''}`}
      scope="col"
      aria-sort={order}
      style={widthPercent === undefined ? undefined : { width: `${widthPercent}%` }}
    >
      {onSort === undefined ? (
        <span className={isTitleHidden ? 'hidden-text' : undefined}>{title}</span>
      ) : (
        <UnstyledButton className={classes.sort} onClick={onSort}>
          {title}
          {sorted === 'asc' && <IconArrowUp size={12} aria-hidden />}
          {sorted === 'desc' && <IconArrowDown size={12} aria-hidden />}
        </UnstyledButton>
      )}
    </th>
  );
}

function Cell<Item>({ column, item }: { readonly column: Column<Item>; readonly item: Item }) {
  const { title, isRightAligned = false, isMain = false, isTitleHidden = false } = column;
  const content = column.cell(item);
  return (
    <td
      className={`${classes.cell} ${isRightAligned ? classes.end : ''} ${column.isDesktopOnly === true ? classes.deskOnly : ''}`}
      data-share={column.widthPercent === undefined ? undefined : ''}
      data-main={isMain || isTitleHidden ? '' : undefined}
      data-actions={isTitleHidden ? '' : undefined}
      data-empty={content === null || content === undefined || content === '' ? '' : undefined}
    >
      {!isMain && !isTitleHidden && (
        <span className={classes.label} aria-hidden>
          {title}
        </span>
      )}
      {isMain || isTitleHidden ? content : <span>{content}</span>}
    </td>
  );
}
