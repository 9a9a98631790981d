import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { IconDownload, IconPlus } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { addressOf } from '#console/api/http.ts';
import { incidentCountsQuery, incidentSearchQuery } from '#console/api/incidents.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { SearchField } from '#console/components/lists/search_field.tsx';
import { TeamFilter } from '#console/components/lists/team_filter.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { type Answer, useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import type { Matching } from '#console/pages/incidents/answer_matching.ts';
import {
  countOfTab,
  INCIDENT_TABS,
  type IncidentFilter,
  type IncidentTab,
  isInTab,
  SEVERITIES,
} from '#console/pages/incidents/incident_filter.ts';
import { NoIncidents } from '#console/pages/incidents/incident_row.tsx';
import { IncidentRows } from '#console/pages/incidents/incident_rows.tsx';
import { focusedRowId, useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';
import bar from '#console/components/lists/filter_bar.module.css';
import { useDebounced } from '#console/components/use_debounced.ts';
import classes from '#console/pages/incidents/incident_list.module.css';

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
