import { Button, Skeleton, Text } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';

import { groupSearchQuery, type GroupStatus } from '#console/api/exceptions.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { EmptyState, NothingMatches } from '#console/components/lists/empty_state.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { Page } from '#console/components/page.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconBug, IconCheck, IconPlus } from '#console/icons.ts';
import {
  type ExceptionFilter,
  GROUP_TABS,
  type GroupTab,
  isFiltered,
  isInTab,
  NO_FILTER,
  toGroupSearch,
  toMatching,
  totalOf,
} from '#console/pages/exceptions/exception_filter.ts';
import { ExceptionRows } from '#console/pages/exceptions/exception_rows.tsx';
import { ExceptionSelection } from '#console/pages/exceptions/exception_selection.tsx';
import { Filters, searchFault } from '#console/pages/exceptions/filters.tsx';
import { STATUS_NAMES } from '#console/pages/exceptions/group_status.tsx';
import { useSetStatus } from '#console/pages/exceptions/triage/use_set_status.ts';
import { focusedRowId, useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import bar from '#console/components/lists/filter_bar.module.css';
import { useDebounced } from '#console/components/use_debounced.ts';
import rows from '#console/pages/exceptions/exception_rows.module.css';

const route = getRouteApi('/inside/exceptions');

const TAB_NAMES: Record<GroupTab, string> = { ...STATUS_NAMES, all: 'All' };

export function ExceptionList() {
  const { org, may } = useOrganization();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(filter.q);
  const { status: tab = 'unresolved', sort = 'last' } = filter;
  const list = useInfiniteQuery({
    // A search that cannot be read says so at its field, and narrows nothing.
    ...groupSearchQuery(org.orgId, toGroupSearch(filter, searchFault(text) === null ? text : undefined)),
    placeholderData: keepPreviousData,
  });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [areAllSelected, setAreAllSelected] = useState(false);
  /** Whether taps select rows, on a phone. */
  const [isSelecting, setIsSelecting] = useState(false);
  const clear = (): void => {
    setIsSelecting(false);
    setSelected(new Set());
    setAreAllSelected(false);
  };
  const setting = useSetStatus();
  const searchField = useRef<HTMLInputElement>(null);

  const { data, error, refetch, hasNextPage, isPlaceholderData } = list;
  const shown = data?.pages.flatMap(({ groups }) => groups).filter(({ status }) => isInTab(status, tab)) ?? [];
  const counts = data?.pages.at(-1)?.counts;
  const total = counts === undefined ? 0 : totalOf(counts, tab);
  const selectedGroups = shown.filter(({ groupId }) => selected.has(groupId));
  const selectedIds = selectedGroups.map(({ groupId }) => groupId);
  const mayTriage = may('exceptions:edit');

  const show = (change: Partial<ExceptionFilter>): void => {
    clear();
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  };
  const choose = (saved: ExceptionFilter): void => {
    clear();
    void navigate({ search: saved });
  };
  const select = (groupIds: readonly string[], isSelected: boolean): void => {
    const chosen = new Set(groupIds);
    setAreAllSelected(false);
    setSelected((before) => (isSelected ? before.union(chosen) : before.difference(chosen)));
  };
  const set = (status: GroupStatus, groupIds: readonly string[]): void => {
    if (!mayTriage || groupIds.length === 0) return;
    setting.mutate({ groupIds, status });
    clear();
  };
  const setByKey = (status: GroupStatus) => () => {
    // Changes of all matching groups need the buttons, which ask first.
    if (areAllSelected) return;
    const focused = focusedRowId();
    set(status, selectedIds.length > 0 ? selectedIds : focused === null ? [] : [focused]);
  };
  const selectAll = (): void => {
    if (mayTriage && total > 0) setAreAllSelected(true);
  };
  useShortcut('A', selectAll);
  useShortcut('r', setByKey('resolved'));
  useShortcut('i', setByKey('ignored'));
  useShortcut('o', setByKey('unresolved'));
  useShortcut('x', () => {
    const focused = focusedRowId();
    if (focused !== null && mayTriage) select([focused], !selected.has(focused));
  });
  useShortcut('/', (event) => {
    event.preventDefault();
    searchField.current?.focus();
  });

  return (
    <Page
      title="Exceptions"
      permission="exceptions:edit"
      actions={
        mayTriage &&
        total > 1 &&
        !areAllSelected && (
          <>
            <Button
              variant="default"
              className={rows.onPhone}
              onClick={() => (isSelecting ? clear() : setIsSelecting(true))}
              aria-pressed={isSelecting}
            >
              {isSelecting ? 'Done' : 'Select'}
            </Button>
            <Button variant="default" onClick={selectAll}>
              Select all
            </Button>
          </>
        )
      }
    >
      <div className={`${bar.bar} row wraps`}>
        <nav
          className={`${bar.tabs} grow`}
          aria-label="Exceptions by status"
          data-loading={list.isLoading || undefined}
        >
          {GROUP_TABS.map((value) => (
            <Link
              key={value}
              to="/exceptions"
              search={(before) => ({ ...before, status: value === 'unresolved' ? undefined : value })}
              className={`${bar.tab} row dimmed small nowrap`}
              aria-current={value === tab ? 'page' : undefined}
              activeOptions={{ explicitUndefined: true }}
              onClick={clear}
            >
              {TAB_NAMES[value]}
              {counts !== undefined && <span>{totalOf(counts, value).toLocaleString()}</span>}
            </Link>
          ))}
        </nav>
        <Filters filter={filter} onChange={show} onChoose={choose} searchField={searchField} />
      </div>
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {shown.length === 0 && (data === undefined ? error === null : isPlaceholderData || hasNextPage) && (
        <Skeleton height={560} radius="lg" />
      )}
      {data !== undefined && shown.length === 0 && !isPlaceholderData && !hasNextPage && (
        <NoExceptions
          tab={tab}
          serviceId={filter.service}
          isFiltered={isFiltered(filter)}
          isAny={counts !== undefined && totalOf(counts, 'all') > 0}
          onClear={() => show(NO_FILTER)}
        />
      )}
      {data?.pages[0]?.searchedSince != null && (
        <Text size="sm" c="dimmed" role="status">
          Events since <Timestamp at={data.pages[0].searchedSince} format="date_time" /> were searched. Choose a service
          to search older ones.
        </Text>
      )}
      {shown.length > 0 && (
        <ExceptionRows
          label={`${TAB_NAMES[tab]} exceptions`}
          groups={shown}
          total={total}
          sort={sort}
          onSort={(next) => show({ sort: next })}
          selected={areAllSelected ? new Set(shown.map(({ groupId }) => groupId)) : selected}
          onSelect={mayTriage ? select : undefined}
          isSelecting={isSelecting || areAllSelected}
          deploys={data?.pages.flatMap((page) => page.deploys) ?? []}
          days={data?.pages[0]?.days ?? []}
          showsStatus={tab === 'all'}
          isOld={isPlaceholderData}
        />
      )}
      <LoadMore list={list} />
      {counts !== undefined && (selectedIds.length > 0 || areAllSelected) && (
        <ExceptionSelection
          tab={tab}
          groups={selectedGroups}
          counts={counts}
          areAllSelected={areAllSelected}
          matching={toMatching(filter, filter.q)}
          onSelectAll={() => setAreAllSelected(true)}
          onClear={clear}
          onSet={(status) => set(status, selectedIds)}
        />
      )}
    </Page>
  );
}

const ServiceSnippet = lazyPart(() =>
  import('#console/pages/services/service_snippet.tsx').then((m) => m.ServiceSnippet),
);

interface NoExceptionsProps {
  readonly tab: GroupTab;
  readonly serviceId: string | undefined;
  readonly isFiltered: boolean;
  /** Whether there are groups of another status. */
  readonly isAny: boolean;
  onClear(): void;
}

const CALM: Record<GroupTab, string> = {
  unresolved: 'No unresolved exception',
  resolved: 'No exception is resolved',
  ignored: 'No exception is ignored',
  all: 'No exception yet',
};

function NoExceptions({ tab, serviceId, isFiltered, isAny, onClear }: NoExceptionsProps) {
  if (isAny) {
    return (
      <EmptyState icon={<IconCheck size={24} />} title={CALM[tab]} isCalm={tab === 'unresolved'}>
        {isFiltered
          ? 'Exceptions of another status match these filters.'
          : 'Those of another status are in the other tabs.'}
      </EmptyState>
    );
  }
  if (isFiltered && serviceId === undefined) return <NothingMatches what="exception" onClear={onClear} />;
  return (
    <>
      {isFiltered && <NothingMatches what="exception" onClear={onClear} />}
      <SendExceptions serviceId={serviceId} />
    </>
  );
}

const KINDS = ['node', 'browser', 'python'];

/** Instructions to start sending, shown while nothing has arrived. */
function SendExceptions({ serviceId: wanted }: { readonly serviceId: string | undefined }) {
  const { org, may } = useOrganization();
  const [chosen, setChosen] = useState<string>();
  const { data } = useInfiniteQuery(serviceSearchQuery(org.orgId, { limit: 1 }));
  const first = data?.pages[0]?.services[0];
  const serviceId = wanted ?? chosen ?? first?.serviceId;
  if (data === undefined) return null;
  if (serviceId === undefined) {
    return (
      <EmptyState
        icon={<IconBug size={24} />}
        title="No exception yet"
        actions={
          may('services:edit') && (
            <Button
              leftSection={<IconPlus size={16} />}
              renderRoot={(props: object) => <Link to="/services" search={{ create: true }} {...props} />}
            >
              Create a service
            </Button>
          )
        }
      >
        Exceptions come from services. Create one, and it gets the key that it sends them with.
      </EmptyState>
    );
  }
  return (
    <Card
      title="No exception yet"
      about="Add the SDK of your language to the service. Its first error shows here within a second."
      action={wanted === undefined && <ServicePicker value={serviceId} name={first?.name} onChange={setChosen} />}
    >
      <ServiceSnippet key={serviceId} serviceId={serviceId} capability="exceptions" kinds={KINDS} />
    </Card>
  );
}
