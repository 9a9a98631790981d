import { Button, NativeSelect, Skeleton } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { actionQuery, invoke, topicKey } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import type { AuditEntry } from '#console/api/organization.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { NothingMatches } from '#console/components/lists/empty_state.tsx';
import { type Column, DataTable } from '#console/components/lists/data_table.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { Status } from '#console/components/status.tsx';
import { ShowMore } from '#console/components/lists/load_more.tsx';
import { TextButton } from '#console/components/buttons.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { DayField } from '#console/components/forms/time_field.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconDownload } from '#console/icons.ts';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import classes from '#console/pages/settings/audit.module.css';
import { AuditDetails, whoText, viaText } from '#console/pages/settings/audit_details.tsx';
import { type AuditFilter, auditInput, daySpans } from '#console/pages/settings/audit_filter.ts';
import { type NameOf, targetText } from '#console/pages/settings/audit_target.ts';
import { viewerZone } from '#console/pages/oncall/span_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { actName } from '#modules/audit/decide/act_names.ts';
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
      lead={`Every change and every refused change: who made it, when and how. Days and times are in ${viewerZone()}.`}
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
  const navigate = route.useNavigate();
  const [opened, setOpened] = useState<AuditEntry | null>(null);
  const list = useInfiniteQuery({
    queryKey: [...topicKey(orgId, 'settings'), 'list_audit_log', filter],
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      return invoke(orgId, 'list_audit_log', { ...auditInput(filter), ...cursor }, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const { data, error, refetch } = list;
  const entries = data?.pages.flatMap((page) => page.entries);
  const names = new Map(data?.pages.flatMap((page) => Object.entries(page.names)));
  const nameOf: NameOf = (id) => names.get(id);
  return (
    <>
      <Filters filter={filter} actions={data?.pages[0]?.actions ?? []} />
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={320} radius="lg" />}
      {entries?.length === 0 && (
        <NothingMatches what="entry" onClear={() => void navigate({ search: {}, replace: true })} />
      )}
      {entries !== undefined && entries.length > 0 && (
        <DataTable
          label="Audit log"
          columns={columnsWith(setOpened, nameOf)}
          items={entries}
          keyOf={({ auditId }) => auditId}
        />
      )}
      <ShowMore list={list}>Show older entries</ShowMore>
      {opened !== null && <AuditDetails entry={opened} nameOf={nameOf} onClose={() => setOpened(null)} />}
    </>
  );
}

const columnsWith = (onOpen: (entry: AuditEntry) => void, nameOf: NameOf): Column<AuditEntry>[] => [
  {
    id: 'action',
    title: 'Action',
    isMain: true,
    cell: (entry) => (
      <TextButton
        data-row-link
        onClick={() => onOpen(entry)}
        aria-label={`${actName(entry.action)}: show what changed`}
      >
        {actName(entry.action)}
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

interface FiltersProps {
  readonly filter: AuditFilter;
  readonly actions: readonly string[];
}

function Filters({ filter, actions }: FiltersProps) {
  const navigate = route.useNavigate();
  const show = (change: Partial<AuditFilter>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const [isOpen, setIsOpen] = useState(false);
  const { action } = filter;
  const count = Object.values(filter).filter((value) => value !== undefined).length;
  const offered = action === undefined || actions.includes(action) ? actions : [action, ...actions];
  // One entry for what people call the same.
  const acts = new Map(offered.map((value) => [actName(value), value]));
  const spans = daySpans(new Date());
  return (
    <>
      <Button className={classes.opener} variant="default" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
        {count === 0 ? 'Filter' : `Filter (${count})`}
      </Button>
      <div className={classes.filters} data-open={isOpen || undefined}>
        <NativeSelect
          label="Days"
          value={spans.find(({ from, to }) => from === filter.from && to === filter.to)?.title ?? OTHER_DAYS}
          onChange={({ currentTarget: { value } }) => {
            const { from, to } = spans.find(({ title }) => title === value) ?? filter;
            show({ from, to });
          }}
          data={[...spans.map(({ title }) => title), OTHER_DAYS]}
        />
        <DayField label="From" value={filter.from} onChange={(from) => show({ from })} />
        <DayField label="To" value={filter.to} onChange={(to) => show({ to })} />
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
          data={[
            { value: '', label: 'Any' },
            ...[...VIAS, 'system'].map((value) => ({ value, label: viaText({ via: value }) })),
          ]}
        />
        <NativeSelect
          label="Result"
          value={filter.result ?? ''}
          onChange={(event) => show({ result: event.currentTarget.value || undefined })}
          data={[{ value: '', label: 'Any' }, 'done', 'forbidden', 'refused']}
        />
        <Choice
          label="Action"
          placeholder="Any"
          clearLabel="Any"
          options={[...acts].map(([label, value]) => ({ value, label }))}
          value={action === undefined ? null : (acts.get(actName(action)) ?? null)}
          onChange={(value) => show({ action: value ?? undefined })}
          emptyText="Nobody did this yet"
        />
        <TargetPicker value={filter.target ?? null} onChange={(target) => show({ target: target ?? undefined })} />
      </div>
    </>
  );
}

const OTHER_DAYS = 'As chosen';

interface TargetPickerProps {
  readonly value: string | null;
  onChange(value: string | null): void;
}

/** Picker of what was changed, by a word of its name, or by its id. */
function TargetPicker({ value, onChange }: TargetPickerProps) {
  const { orgId } = useOrganization().org;
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const { data } = useQuery({
    ...actionQuery(orgId, 'settings', 'search_everything', { text }),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  });
  const items = data?.found.flatMap((kind) => kind.items) ?? [];
  const total = data?.found.reduce((sum, kind) => sum + kind.total, 0) ?? 0;
  const ids = [typed.trim(), value].filter((id) => id?.includes('_') === true && !items.some((item) => item.id === id));
  return (
    <Choice
      label="Target"
      className={classes.target}
      placeholder="Name or id"
      clearLabel="Anything"
      options={[
        ...[...new Set(ids)].map((id) => ({ value: id ?? '', label: id ?? '' })),
        ...items.map(({ id, name, detail }) => ({
          value: id,
          label: isolateBidi(detail === null ? name : `${name} (${detail})`),
        })),
      ]}
      further={total - items.length}
      value={value}
      onChange={onChange}
      onSearch={setTyped}
      opensOnFocus={false}
      emptyText={text === '' ? 'Type part of a name' : 'Nothing has this name: paste its id'}
    />
  );
}
