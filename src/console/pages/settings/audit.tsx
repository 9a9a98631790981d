import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { IconDownload, IconHistoryOff } from '@tabler/icons-react';
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { actionQuery, invoke, topicKey } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import type { AuditEntry } from '#console/api/organization.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { type Column, DataTable } from '#console/components/lists/data_table.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { Status } from '#console/components/status.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import classes from '#console/pages/settings/audit.module.css';
import { AuditDetails, whoText, viaText } from '#console/pages/settings/audit_details.tsx';
import { type AuditFilter, auditInput } from '#console/pages/settings/audit_filter.ts';
import { ownerOf, targetText } from '#console/pages/settings/audit_target.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { VIAS } from '#modules/accounts/decide/caller.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

const AuditStreams = lazyDialog(() => import('#console/pages/settings/audit_streams.tsx').then((m) => m.AuditStreams));

const route = getRouteApi('/inside/settings/audit');

export function Audit() {
  const { isAdmin } = useOrganization();
  const [isStreaming, setIsStreaming] = useState(false);
  return (
    <Page
      title="Audit log"
      lead="Every change and every refused change: who made it, when and how."
      actions={
        isAdmin && (
          <>
            <Button variant="default" onClick={() => setIsStreaming(true)}>
              Streams
            </Button>
            <Export />
          </>
        )
      }
    >
      {isAdmin ? <AuditLog /> : <AdminsOnly what="The audit log" />}
      {isStreaming && <AuditStreams onClose={() => setIsStreaming(false)} />}
    </Page>
  );
}

function Export() {
  const { orgId } = useOrganization().org;
  const filter = route.useSearch();
  const addressFor = (format: 'csv' | 'jsonl'): string => {
    const parameters = new URLSearchParams({ ...auditInput(filter), format });
    return addressOf(`${API_PATHS.console}/organizations/${orgId}/actions/export_audit_log?${parameters}`);
  };
  return (
    <ActionMenu
      button={(props) => (
        <Button variant="default" leftSection={<IconDownload size={16} />} {...props}>
          Export
        </Button>
      )}
      entries={[
        { text: 'As CSV', renderRoot: (props) => <a {...props} href={addressFor('csv')} download /> },
        { text: 'As JSON Lines', renderRoot: (props) => <a {...props} href={addressFor('jsonl')} download /> },
      ]}
    />
  );
}

function AuditLog() {
  const { orgId } = useOrganization().org;
  const filter = route.useSearch();
  const [opened, setOpened] = useState<AuditEntry | null>(null);
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [...topicKey(orgId, 'settings'), 'list_audit_log', filter],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return invoke(orgId, 'list_audit_log', { ...auditInput(filter), ...cursor }, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const entries = data?.pages.flatMap((page) => page.entries);
  const nameOf = useTargetNames(entries ?? []);
  return (
    <>
      <Filters filter={filter} />
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={320} radius="lg" />}
      {entries?.length === 0 && (
        <EmptyState icon={<IconHistoryOff size={24} />} title="Nothing matches">
          No entry matches these filters. Choose more days, or clear a filter.
        </EmptyState>
      )}
      {entries !== undefined && entries.length > 0 && (
        <DataTable
          label="Audit log"
          columns={columnsWith(setOpened, nameOf)}
          items={entries}
          keyOf={({ auditId }) => auditId}
        />
      )}
      {hasNextPage && (
        <div className={classes.more}>
          <Button variant="default" onClick={() => void fetchNextPage()} loading={isFetchingNextPage}>
            Show older entries
          </Button>
        </div>
      )}
      {opened !== null && <AuditDetails entry={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

type NameOf = (id: string) => string | undefined;

const columnsWith = (onOpen: (entry: AuditEntry) => void, nameOf: NameOf): Column<AuditEntry>[] => [
  {
    id: 'action',
    title: 'Action',
    isMain: true,
    cell: (entry) => (
      <TextButton data-row-link onClick={() => onOpen(entry)} aria-label={`${entry.action}: show what changed`}>
        {entry.action}
      </TextButton>
    ),
  },
  { id: 'who', title: 'Who', widthPercent: 20, cell: (entry) => <Name>{whoText(entry)}</Name> },
  { id: 'via', title: 'Via', cell: viaText },
  { id: 'target', title: 'Target', widthPercent: 30, cell: (entry) => <Name>{targetText(entry, nameOf)}</Name> },
  {
    id: 'result',
    title: 'Result',
    cell: ({ result }) => <Status tone={result === 'done' ? 'green' : 'red'}>{result}</Status>,
  },
  { id: 'at', title: 'When', isRightAligned: true, cell: ({ at }) => <Timestamp at={at} format="date_time" /> },
];

/** Returns the names of the entries' targets, and of their owners, where they still exist. */
function useTargetNames(entries: readonly AuditEntry[]): NameOf {
  const { orgId } = useOrganization().org;
  const incidents = useQueries({
    queries: targetsIn(entries, 'incident_').map((incidentIds) =>
      actionQuery(orgId, 'settings', 'search_incidents', { incidentIds, limit: IDS_MAX }),
    ),
  }).flatMap(({ data }) => data?.incidents ?? []);
  const services = useQueries({
    queries: targetsIn(entries, 'service_').map((serviceIds) =>
      actionQuery(orgId, 'settings', 'search_services', { serviceIds, limit: IDS_MAX }),
    ),
  }).flatMap(({ data }) => data?.services ?? []);
  const { nameOf } = useNamesOf(
    entries.flatMap((entry) =>
      [entry.target, ownerOf(entry)].filter((id) => id !== null).filter((id) => id.startsWith('user_')),
    ),
  );
  const names = new Map([
    ...incidents.map(({ incidentId, number, title }) => [incidentId, `#${number} ${title}`] as const),
    ...services.map(({ serviceId, name }) => [serviceId, name] as const),
  ]);
  return (id) => names.get(id) ?? nameOf(id);
}

const IDS_MAX = 200;

/** Returns the ids of the targets with this prefix, in batches for one request each. */
function targetsIn(entries: readonly AuditEntry[], prefix: string): string[][] {
  const ids = [...new Set(entries.flatMap(({ target }) => (target?.startsWith(prefix) === true ? [target] : [])))];
  return Array.from({ length: Math.ceil(ids.length / IDS_MAX) }, (_, index) =>
    ids.slice(index * IDS_MAX, (index + 1) * IDS_MAX),
  );
}

function Filters({ filter }: { readonly filter: AuditFilter }) {
  const navigate = route.useNavigate();
  const show = (change: Partial<AuditFilter>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <div className={classes.filters}>
      <TextInput
        type="date"
        label="From"
        value={filter.from ?? ''}
        onChange={(event) => show({ from: event.currentTarget.value || undefined })}
      />
      <TextInput
        type="date"
        label="To"
        value={filter.to ?? ''}
        onChange={(event) => show({ to: event.currentTarget.value || undefined })}
      />
      <PersonPicker
        label="Who"
        placeholder="Everybody"
        clearLabel="Everybody"
        before={[{ value: 'system', label: 'Tocsin itself' }]}
        value={filter.actor ?? null}
        onChange={(actor) => show({ actor: actor ?? undefined })}
      />
      <NativeSelect
        label="Via"
        value={filter.via ?? ''}
        onChange={(event) => show({ via: event.currentTarget.value || undefined })}
        data={[{ value: '', label: 'Any' }, ...VIAS, 'system']}
      />
      <NativeSelect
        label="Result"
        value={filter.result ?? ''}
        onChange={(event) => show({ result: event.currentTarget.value || undefined })}
        data={[{ value: '', label: 'Any' }, 'done', 'forbidden', 'refused']}
      />
      <WordFilter label="Action" value={filter.action} onChange={(action) => show({ action })} />
      <WordFilter label="Target id" value={filter.target} onChange={(target) => show({ target })} />
    </div>
  );
}

interface WordFilterProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string | undefined) => void;
}

/** Filter for whole words, which the server compares, so it changes when the person has finished typing. */
function WordFilter({ label, value = '', onChange }: WordFilterProps) {
  const finish = (text: string): void => {
    if (text.trim() !== value) onChange(text.trim() || undefined);
  };
  return (
    <TextInput
      key={value}
      label={label}
      defaultValue={value}
      onBlur={(event) => finish(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') finish(event.currentTarget.value);
      }}
    />
  );
}
