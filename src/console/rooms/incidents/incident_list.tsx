import { Button, Group, NativeSelect, Skeleton, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { incidentsQuery, servicesQuery } from '#console/api/queries.ts';
import { Failure } from '#console/parts/failure.tsx';
import { isolated } from '#console/parts/isolated.ts';
import { Page } from '#console/parts/page.tsx';
import {
  byUrgency,
  INCIDENT_TABS,
  type IncidentFilter,
  type IncidentTab,
  isInTab,
} from '#console/rooms/incidents/incident_filter.ts';
import classes from '#console/rooms/incidents/incident_list.module.css';
import { IncidentRow } from '#console/rooms/incidents/incident_row.tsx';
import { NoIncidents } from '#console/rooms/incidents/no_incidents.tsx';
import { type Answer, useSettle } from '#console/rooms/incidents/settle.ts';
import { focusedRowId, useLetter } from '#console/shell/keyboard.ts';
import { useHere } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/incidents');

const TAB_NAMES: Record<IncidentTab, string> = {
  open: 'Open',
  triggered: 'Triggered',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
  all: 'All',
};

const SHOWN_AT_FIRST = 100;

export function IncidentList() {
  const { org, may } = useHere();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error, refetch } = useQuery(incidentsQuery(org.orgId));
  const services = useQuery(servicesQuery(org.orgId)).data?.services;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [shownMax, setShownMax] = useState(SHOWN_AT_FIRST);
  const settle = useSettle();

  const names = useMemo(() => new Map(services?.map(({ serviceId, name }) => [serviceId, name])), [services]);
  const nameOf = (serviceId: string) => names.get(serviceId) ?? 'a service';
  const all = useMemo(() => (data?.incidents ?? []).toSorted(byUrgency), [data]);
  const tab = filter.status ?? 'open';
  const meant = all.filter(
    ({ serviceId, title, number }) =>
      (filter.service === undefined || serviceId === filter.service) &&
      (filter.q === undefined ||
        `${title} #${number} ${nameOf(serviceId)}`.toLowerCase().includes(filter.q.toLowerCase())),
  );
  const shown = meant.filter((incident) => isInTab(incident, tab));
  const chosen = shown.filter(({ incidentId }) => selected.has(incidentId)).map(({ incidentId }) => incidentId);
  const mayAnswer = may('oncall:edit');

  const show = (change: Partial<IncidentFilter>): void => {
    setSelected(new Set());
    setShownMax(SHOWN_AT_FIRST);
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
    settle.mutate({ answer: kind, incidentIds });
    setSelected(new Set());
  };
  const answerByKey = (kind: Answer) => () => {
    const focused = focusedRowId();
    answer(kind, chosen.length > 0 ? chosen : focused === null ? [] : [focused]);
  };
  useLetter('a', answerByKey('acknowledge'));
  useLetter('r', answerByKey('resolve'));
  useLetter('x', () => {
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
              {data !== undefined && value !== 'all' && (
                <span>{meant.filter((incident) => isInTab(incident, value)).length}</span>
              )}
            </Link>
          ))}
        </nav>
        <Group gap="xs" className={classes.filters} wrap="nowrap">
          <NativeSelect
            aria-label="Service"
            value={filter.service ?? ''}
            onChange={(event) => show({ service: event.currentTarget.value || undefined })}
            data={[
              { value: '', label: 'All services' },
              ...(services ?? []).map(({ serviceId, name }) => ({ value: serviceId, label: isolated(name) })),
            ]}
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
      {error !== null && data === undefined && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={220} radius="lg" />}
      {data !== undefined && shown.length === 0 && (
        <NoIncidents
          isFiltered={filter.q !== undefined || filter.service !== undefined}
          tab={tab}
          incidents={all}
          onClear={() => show({ q: undefined, service: undefined })}
        />
      )}
      {shown.length > 0 && (
        <ul className={classes.list} aria-label={`${TAB_NAMES[tab]} incidents`}>
          {shown.slice(0, shownMax).map((incident) => (
            <IncidentRow
              key={incident.incidentId}
              incident={incident}
              serviceName={nameOf(incident.serviceId)}
              isSelected={selected.has(incident.incidentId)}
              {...(mayAnswer && {
                onSelect: (isSelected: boolean) => select(incident.incidentId, isSelected),
                onAcknowledge: () => answer('acknowledge', [incident.incidentId]),
              })}
            />
          ))}
        </ul>
      )}
      {shown.length > shownMax && (
        <div className={classes.more}>
          <Button variant="default" onClick={() => setShownMax(shownMax + SHOWN_AT_FIRST)}>
            Show more of {shown.length}
          </Button>
        </div>
      )}
      {data !== undefined && data.total > data.incidents.length && (
        <Text size="sm" c="dimmed" ta="center" mt="md">
          The newest {data.incidents.length} of {data.total} incidents are looked through.
        </Text>
      )}
      {chosen.length > 0 && (
        <div className={classes.selection} role="region" aria-label="Selected incidents">
          <Text size="sm" fw={560} className="numbers">
            {chosen.length} selected
          </Text>
          <Button size="sm" onClick={() => answer('acknowledge', chosen)}>
            Acknowledge
          </Button>
          <Button size="sm" variant="default" onClick={() => answer('resolve', chosen)}>
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
