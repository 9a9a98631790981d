import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { memo, useCallback, useEffect, useRef, useState } from 'react';

import type { FoundIncident } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { incidentCountsQuery, incidentSearchQuery } from '#console/api/incidents.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import bar from '#console/components/lists/filter_bar.module.css';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { TeamFilter } from '#console/components/lists/team_filter.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import classes from '#console/pages/incidents/incident_list.module.css';
import { IconDownload, IconPlus } from '#console/icons.ts';
import { focusedRowId, useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';
import { type Answer, useAnswerIncidents } from './answer_incidents.ts';
import type { Matching } from './answer_matching.ts';
import {
  countOfTab,
  INCIDENT_TABS,
  type IncidentFilter,
  type IncidentTab,
  isInTab,
  SEVERITIES,
} from './incident_filter.ts';
import { IncidentRow, NoIncidents } from './incident_row.tsx';

const DeclareIncident = lazyPart(() =>
  import('#console/pages/incidents/declare_incident.tsx').then((m) => m.DeclareIncident),
);
const IncidentSelection = lazyPart(() =>
  import('#console/pages/incidents/incident_selection.tsx').then((m) => m.IncidentSelection),
);

const route = getRouteApi('/inside/incidents');

const TAB_NAMES: Record<IncidentTab, string> = {
  open: 'Open',
  triggered: 'Triggered',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
  all: 'All',
};

/** Statuses in each tab that can be answered. */
const OPEN_IN_TAB: Record<IncidentTab, readonly ('triggered' | 'acknowledged')[]> = {
  open: ['triggered', 'acknowledged'],
  triggered: ['triggered'],
  acknowledged: ['acknowledged'],
  resolved: [],
  all: ['triggered', 'acknowledged'],
};

export function IncidentList() {
  const { org, may } = useOrganization();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(filter.q);
  const tab = filter.status ?? 'open';
  const search = {
    ...(filter.service !== undefined && { serviceId: filter.service }),
    ...(filter.severity !== undefined && { severity: filter.severity }),
    ...(filter.team !== undefined && { ownedBy: filter.team }),
    ...(text !== undefined && { text }),
  };
  const parameters = new URLSearchParams({ ...search, status: tab });
  const csv = addressOf(`${API_PATHS.console}/organizations/${org.orgId}/actions/export_incidents?${parameters}`);
  const list = useInfiniteQuery({
    ...incidentSearchQuery(org.orgId, { ...search, status: tab }),
    placeholderData: keepPreviousData,
  });
  const { data: counts, isLoading: isCounting } = useQuery({
    ...incidentCountsQuery(org.orgId, search),
    placeholderData: keepPreviousData,
  });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [areAllSelected, setAreAllSelected] = useState(false);
  const [isDeclaring, setIsDeclaring] = useState(false);
  useOpenedByAddress('declare', () => setIsDeclaring(may('oncall:edit')));
  const answering = useAnswerIncidents();

  const { data, error, refetch, hasNextPage, isPlaceholderData } = list;
  const shown = data?.pages.flatMap(({ incidents }) => incidents).filter((incident) => isInTab(incident, tab)) ?? [];
  const selectedIds = shown.filter(({ incidentId }) => selected.has(incidentId)).map(({ incidentId }) => incidentId);
  const mayAnswer = may('oncall:edit');
  const statuses = OPEN_IN_TAB[tab];
  const total = counts === undefined ? 0 : statuses.reduce((sum, status) => sum + counts[status], 0);

  const clear = (): void => {
    setSelected(new Set());
    setAreAllSelected(false);
  };
  const show = (change: Partial<IncidentFilter>): void => {
    clear();
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  };
  const select = (incidentId: string, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(incidentId);
    else next.delete(incidentId);
    setSelected(next);
    setAreAllSelected(false);
  };
  const selectAll = (): void => {
    if (mayAnswer && total > 0) setAreAllSelected(true);
  };
  const answer = (kind: Answer, incidentIds: readonly string[]): void => {
    if (!mayAnswer || incidentIds.length === 0) return;
    answering.mutate({ answer: kind, incidentIds });
    clear();
  };
  const answerByKey = (kind: Answer) => () => {
    // Too many for one key: the buttons say how many.
    if (areAllSelected) return;
    const focused = focusedRowId();
    answer(kind, selectedIds.length > 0 ? selectedIds : focused === null ? [] : [focused]);
  };
  useShortcut('a', answerByKey('acknowledge'));
  useShortcut('r', answerByKey('resolve'));
  useShortcut('x', () => {
    const focused = focusedRowId();
    if (focused !== null && mayAnswer) select(focused, !selected.has(focused));
  });
  useShortcut('A', selectAll);
  useShortcut('c', () => {
    if (mayAnswer) setIsDeclaring(true);
  });

  return (
    <Page
      title="Incidents"
      permission="oncall:edit"
      actions={
        <>
          <Button
            component="a"
            href={csv}
            download
            variant="subtle"
            color="gray"
            leftSection={<IconDownload size={16} />}
            className={classes.export}
          >
            As CSV
          </Button>
          {mayAnswer && statuses.length > 0 && (
            <Button
              variant="default"
              className={classes.selectAll}
              data-needed={(total > 1 && !areAllSelected) || undefined}
              onClick={selectAll}
            >
              Select all
            </Button>
          )}
          {mayAnswer && (
            <Button variant="default" leftSection={<IconPlus size={16} />} onClick={() => setIsDeclaring(true)}>
              Declare an incident
            </Button>
          )}
        </>
      }
    >
      <div className={`${bar.bar} row wraps`}>
        <nav className={`${bar.tabs} grow`} aria-label="Incidents by status" data-loading={isCounting || undefined}>
          {INCIDENT_TABS.map((value) => (
            <Link
              key={value}
              to="/incidents"
              search={(before) => ({ ...before, status: value === 'open' ? undefined : value })}
              className={`${bar.tab} row dimmed small nowrap`}
              aria-current={value === tab ? 'page' : undefined}
              activeOptions={{ explicitUndefined: true }}
              onClick={clear}
            >
              {TAB_NAMES[value]}
              {value !== 'all' && (
                <span>{counts === undefined ? ' ' : countOfTab(counts, value).toLocaleString()}</span>
              )}
            </Link>
          ))}
        </nav>
        <div className={bar.filters}>
          <ServicePicker value={filter.service} onChange={(service) => show({ service })} />
          <NativeSelect
            aria-label="Severity"
            value={filter.severity ?? ''}
            onChange={(event) =>
              show({ severity: SEVERITIES.find((severity) => severity === event.currentTarget.value) })
            }
            data={[{ value: '', label: 'Any severity' }, ...SEVERITIES]}
          />
          <TeamFilter value={filter.team} onChange={(team) => show({ team })} />
          <SearchField
            label="Search incidents"
            placeholder="Title or number"
            value={filter.q}
            onChange={(q) => show({ q })}
          />
        </div>
      </div>
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {shown.length === 0 && (data === undefined ? error === null : isPlaceholderData) && (
        <Skeleton height={220} radius="lg" />
      )}
      {data !== undefined && shown.length === 0 && !isPlaceholderData && !hasNextPage && (
        <NoIncidents
          isFiltered={[filter.q, filter.service, filter.severity, filter.team].some((value) => value !== undefined)}
          tab={tab}
          onClear={() => show({ q: undefined, service: undefined, severity: undefined, team: undefined })}
        />
      )}
      {shown.length > 0 && (
        <IncidentRows
          label={`${TAB_NAMES[tab]} incidents`}
          incidents={shown}
          total={hasNextPage ? Math.max(total, shown.length + 1) : shown.length}
          areOld={isPlaceholderData}
          isSelected={({ incidentId, status }) => selected.has(incidentId) || (areAllSelected && status !== 'resolved')}
          {...(mayAnswer && { onSelect: select })}
          onAcknowledge={(incidentId) => answer('acknowledge', [incidentId])}
        />
      )}
      <LoadMore list={list} />
      {(selectedIds.length > 0 || areAllSelected) && (
        <IncidentSelection
          count={selectedIds.length}
          total={total}
          areAllSelected={areAllSelected}
          matching={{ ...search, statuses: [...statuses] } satisfies Matching}
          onSelectAll={selectAll}
          onClear={clear}
          onAnswer={(kind) => answer(kind, selectedIds)}
        />
      )}
      {isDeclaring && <DeclareIncident onClose={() => setIsDeclaring(false)} />}
    </Page>
  );
}

interface IncidentRowsProps {
  readonly label: string;
  readonly incidents: readonly FoundIncident[];
  /** Total, including rows not loaded yet. */
  readonly total: number;
  /** Whether the rows belong to the previous filter, and are replaced soon. */
  readonly areOld: boolean;
  readonly isSelected: (incident: FoundIncident) => boolean;
  /** Called on a selection; without it, the person may not answer incidents. */
  readonly onSelect?: (incidentId: string, isSelected: boolean) => void;
  readonly onAcknowledge: (incidentId: string) => void;
}

/** Usual height of a row, used until it is measured. */
const DESK_PX = 61;
const PHONE_PX = 150;
/** Rows rendered outside of the window, so that `j` and `k` always find the next one. */
const OVERSCAN = 10;

/** List of any number of incidents, of which only the rows in sight are in the document. */
export function IncidentRows(props: IncidentRowsProps) {
  const { label, incidents, total, areOld, isSelected, onSelect, onAcknowledge } = props;
  const list = useRef<HTMLUListElement>(null);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const top = useOffsetTop(list);
  const rows = useWindowVirtualizer({
    count: incidents.length,
    estimateSize: () => (isPhone ? PHONE_PX : DESK_PX),
    overscan: OVERSCAN,
    // All rows of the screen are drawn at first, in pieces, and not at once after the list was drawn empty.
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: top,
    getItemKey: (index) => incidents[index]?.incidentId ?? index,
  });
  const mayAnswer = onSelect !== undefined;
  const latest = useRef({ onSelect, onAcknowledge });
  useEffect(() => {
    latest.current = { onSelect, onAcknowledge };
  });
  const select = useCallback((id: string, isOn: boolean) => latest.current.onSelect?.(id, isOn), []);
  const acknowledge = useCallback((id: string) => latest.current.onAcknowledge(id), []);
  const shown = rows.getVirtualItems();
  const [first, last] = [shown.at(0), shown.at(-1)];
  return (
    <ul
      ref={list}
      className={classes.list}
      aria-label={label}
      aria-busy={areOld}
      style={{
        paddingTop: first === undefined ? 0 : first.start - top,
        paddingBottom: last === undefined ? 0 : rows.getTotalSize() - (last.end - top),
      }}
    >
      {shown.map(({ index }) => {
        const incident = incidents[index];
        if (incident === undefined) return null;
        return (
          <Row
            key={incident.incidentId}
            incident={incident}
            index={index}
            count={total}
            isSelected={isSelected(incident)}
            measure={rows.measureElement}
            onSelect={mayAnswer ? select : undefined}
            onAcknowledge={acknowledge}
          />
        );
      })}
    </ul>
  );
}

interface RowProps {
  readonly incident: FoundIncident;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  measure(row: HTMLLIElement | null): void;
  readonly onSelect: ((incidentId: string, isSelected: boolean) => void) | undefined;
  onAcknowledge(incidentId: string): void;
}

/** Row that is rendered again only if it changes, not each time the list is scrolled. */
const Row = memo(function Row({ incident, index, count, isSelected, measure, onSelect, onAcknowledge }: RowProps) {
  const { incidentId } = incident;
  return (
    <IncidentRow
      incident={incident}
      measured={{ ref: measure, index, count }}
      isSelected={isSelected}
      {...(onSelect !== undefined && {
        onSelect: (selected: boolean) => onSelect(incidentId, selected),
        onAcknowledge: () => onAcknowledge(incidentId),
      })}
    />
  );
});

/** Returns the distance of the list from the top of the page. Banners above it come and go. */
function useOffsetTop(list: React.RefObject<HTMLElement | null>): number {
  const [top, setTop] = useState(0);
  useEffect(() => {
    const measure = (): void => {
      if (list.current !== null) setTop(Math.round(list.current.getBoundingClientRect().top + window.scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    const main = document.querySelector('main');
    if (main !== null) observer.observe(main);
    return () => observer.disconnect();
  }, [list]);
  return top;
}
