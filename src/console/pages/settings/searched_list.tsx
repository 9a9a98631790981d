import { Text } from '@mantine/core';
import type { InfiniteData, UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';

import { type Column, DataTable } from '#console/components/lists/data_table.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { NothingMatches } from '#console/components/lists/empty_state.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import classes from '#console/pages/settings/searched_list.module.css';

/** Total from which the list has a search field: fewer entries are found at a glance. */
const SEARCHED_FROM = 10;

interface Counted {
  readonly total: number;
}

interface SearchedListProps<Item, Found extends Counted> {
  readonly label: string;
  /** Noun for one of the entries. */
  readonly what: string;
  readonly columns: readonly Column<Item>[];
  readonly query: UseInfiniteQueryResult<InfiniteData<Found>>;
  readonly itemsOf: (page: Found) => readonly Item[];
  readonly keyOf: (item: Item) => string;
  /** Search text in the address. */
  readonly text: string | undefined;
  readonly onSearch: (text: string | undefined) => void;
  readonly filter?: ReactNode;
  readonly isFiltered?: boolean;
  readonly onClear?: () => void;
  /** Content in place of the list if there is nothing at all. */
  readonly empty?: ReactNode;
  readonly skeleton: ReactNode;
}

/** List that the server pages and searches. The rows can be sorted here once all of them are loaded. */
export function SearchedList<Item extends object, Found extends Counted>(props: SearchedListProps<Item, Found>) {
  const { label, what, columns, query, itemsOf, keyOf, text = '', onSearch, filter, empty = null, skeleton } = props;
  const { isFiltered = text !== '', onClear = () => onSearch(undefined) } = props;
  const { data, error, refetch, hasNextPage } = query;
  if (data === undefined) {
    return error === null ? skeleton : <ErrorAlert error={error} onRetry={() => void refetch()} />;
  }
  const items = data.pages.flatMap(itemsOf);
  const total = data.pages.at(-1)?.total ?? 0;
  if (total === 0 && !isFiltered && empty !== null) return empty;
  return (
    <>
      {(isFiltered || total > SEARCHED_FROM) && (
        <div className={`${classes.bar} row wraps`}>
          <SearchField label={`Search ${label}`} placeholder={`Search ${label}`} value={text} onChange={onSearch} />
          {filter}
          <Text size="sm" c="dimmed" role="status">
            {total.toLocaleString('en')} {total === 1 ? what : label}
          </Text>
        </div>
      )}
      {items.length === 0 ? (
        <NothingMatches what={what} onClear={onClear} />
      ) : (
        <DataTable
          label={`${label.charAt(0).toUpperCase()}${label.slice(1)}`}
          columns={hasNextPage ? columns.map(({ sortBy: _sortBy, ...column }) => column) : columns}
          items={items}
          keyOf={keyOf}
        />
      )}
      <LoadMore list={query} />
    </>
  );
}
