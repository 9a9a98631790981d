import { Button, Group, NativeSelect, Skeleton, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';

import { incidentCountsQuery, incidentSearchQuery } from '#console/api/incidents.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { LoadMore } from '#console/components/load_more.tsx';
import { Page } from '#console/components/page.tsx';
import { ServicePicker } from '#console/components/service_picker.tsx';
import {
  countOfTab,
  INCIDENT_TABS,
  type IncidentFilter,
  type IncidentTab,
  isInTab,
  SEVERITIES,
} from '#console/pages/incidents/incident_filter.ts';
import classes from '#console/pages/incidents/incident_list.module.css';
import { IncidentRow } from '#console/pages/incidents/incident_row.tsx';
import { NoIncidents } from '#console/pages/incidents/no_incidents.tsx';
import type { Answer } from '#console/pages/incidents/answer.ts';
import { useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import { focusedRowId, useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/incidents');

const TAB_NAMES: Record<IncidentTab, string> = {
  open: 'Open',
  triggered: 'Triggered',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
  all: 'All',
};

/** Waits until typing pauses before it asks the server. */
const DEBOUNCE_MS = 200;

export function IncidentList() {
  const { org, may } = useOrganization();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const [text] = useDebouncedValue(filter.q, DEBOUNCE_MS);
  const tab = filter.status ?? 'open';
  const search = {
    ...(filter.service !== undefined && { serviceId: filter.service }),
    ...(filter.severity !== undefined && { severity: filter.severity }),
    ...(text !== undefined && { text }),
  };
  const list = useInfiniteQuery({
    ...incidentSearchQuery(org.orgId, { ...search, status: tab }),
    placeholderData: keepPreviousData,
  });
  const { data: counts } = useQuery({
    ...incidentCountsQuery(org.orgId, search),
    placeholderData: keepPreviousData,
  });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const answering = useAnswerIncidents();

  const {
    data,
    error,
    refetch,
    hasNextPage,
    fetchNextPage,
    isFetchingNextPage,
    isPlaceholderData,
    isFetchNextPageError,
  } = list;
  const shown = data?.pages.flatMap(({ incidents }) => incidents).filter((incident) => isInTab(incident, tab)) ?? [];
  const selectedIds = shown.filter(({ incidentId }) => selected.has(incidentId)).map(({ incidentId }) => incidentId);
  const mayAnswer = may('oncall:edit');

  const show = (change: Partial<IncidentFilter>): void => {
    setSelected(new Set());
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  };
  const select = (incidentId: string, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(incidentId);
    else next.delete(incidentId);
    setSelected(next);
  };
  const answer = (kind: Answer, incidentIds: readonly string[]): void => {
    if (!mayAnswer || incidentIds.length === 0) return;
    answering.mutate({ answer: kind, incidentIds });
    setSelected(new Set());
  };
  const answerByKey = (kind: Answer) => () => {
    const focused = focusedRowId();
    answer(kind, selectedIds.length > 0 ? selectedIds : focused === null ? [] : [focused]);
  };
  useShortcut('a', answerByKey('acknowledge'));
  useShortcut('r', answerByKey('resolve'));
  useShortcut('x', () => {
    const focused = focusedRowId();
    if (focused !== null) select(focused, !selected.has(focused));
  });

  return (
    <Page title="Incidents">
      <div className={classes.bar}>
        <nav className={classes.tabs} aria-label="Incidents by status">
          {INCIDENT_TABS.map((value) => (
            <Link
              key={value}
              to="/incidents"
              search={(before) => ({ ...before, status: value === 'open' ? undefined : value })}
              className={classes.tab}
              aria-current={value === tab ? 'page' : undefined}
              onClick={() => setSelected(new Set())}
            >
              {TAB_NAMES[value]}
              {counts !== undefined && value !== 'all' && <span>{countOfTab(counts, value).toLocaleString()}</span>}
            </Link>
          ))}
        </nav>
        <Group gap="xs" className={classes.filters}>
          <ServicePicker value={filter.service} onChange={(service) => show({ service })} />
          <NativeSelect
            aria-label="Severity"
            value={filter.severity ?? ''}
            onChange={(event) => show({ severity: SEVERITIES.find((known) => known === event.currentTarget.value) })}
            data={[{ value: '', label: 'Any severity' }, ...SEVERITIES]}
          />
          <TextInput
            aria-label="Search incidents"
            placeholder="Title or number"
            leftSection={<IconSearch size={16} />}
            value={filter.q ?? ''}
            onChange={(event) => show({ q: event.currentTarget.value || undefined })}
          />
        </Group>
      </div>
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {shown.length === 0 && (data === undefined ? error === null : isPlaceholderData) && (
        <Skeleton height={220} radius="lg" />
      )}
      {data !== undefined && shown.length === 0 && !isPlaceholderData && !hasNextPage && (
        <NoIncidents
          isFiltered={filter.q !== undefined || filter.service !== undefined || filter.severity !== undefined}
          tab={tab}
          onClear={() => show({ q: undefined, service: undefined, severity: undefined })}
        />
      )}
      {shown.length > 0 && (
        <ul
          className={classes.list}
          aria-label={`${TAB_NAMES[tab]} incidents`}
          data-old={isPlaceholderData ? '' : undefined}
        >
          {shown.map((incident) => (
            <IncidentRow
              key={incident.incidentId}
              incident={incident}
              isSelected={selected.has(incident.incidentId)}
              {...(mayAnswer && {
                onSelect: (isSelected: boolean) => select(incident.incidentId, isSelected),
                onAcknowledge: () => answer('acknowledge', [incident.incidentId]),
              })}
            />
          ))}
        </ul>
      )}
      {hasNextPage && !isPlaceholderData && (
        <LoadMore onMore={() => void fetchNextPage()} isLoading={isFetchingNextPage} hasFailed={isFetchNextPageError} />
      )}
      {selectedIds.length > 0 && (
        <div className={classes.selection} role="region" aria-label="Selected incidents">
          <Text size="sm" fw={560} className="numbers">
            {selectedIds.length} selected
          </Text>
          <Button size="sm" onClick={() => answer('acknowledge', selectedIds)}>
            Acknowledge
          </Button>
          <Button size="sm" variant="default" onClick={() => answer('resolve', selectedIds)}>
            Resolve
          </Button>
          <Button size="sm" variant="subtle" color="gray" onClick={() => setSelected(new Set())}>
            Clear
          </Button>
        </div>
      )}
    </Page>
  );
}
