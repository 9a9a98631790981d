import { Button, Skeleton, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { type ApiKey, apiKeySearchQuery } from '#console/api/organization.ts';
import { addressOf } from '#console/api/http.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import type { Column } from '#console/components/lists/data_table.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconKey, IconPlus } from '#console/icons.ts';
import { SearchedList } from '#console/pages/settings/searched_list.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const CreateApiKey = lazyDialog(() => import('#console/pages/settings/create_api_key.tsx').then((m) => m.CreateApiKey));

const route = getRouteApi('/inside/settings/api-keys');

export function ApiKeys() {
  const { org } = useOrganization();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(q?.trim() ?? '');
  const query = useInfiniteQuery(apiKeySearchQuery(org.orgId, text === '' ? {} : { text }));
  const [isCreating, setIsCreating] = useState(false);
  useOpenedByAddress('create', () => setIsCreating(true));
  const [revoked, setRevoked] = useState<ApiKey | null>(null);
  const create = (
    <Button leftSection={<IconPlus size={18} />} onClick={() => setIsCreating(true)}>
      Create an API key
    </Button>
  );
  const isEmpty = q === undefined && query.data?.pages[0]?.total === 0;
  return (
    <Page
      title="API keys"
      lead={
        <>
          For programs that call the <a href={addressOf('docs')}>API</a> or use MCP. Services send data with their own
          ingestion keys.
        </>
      }
      actions={isEmpty ? undefined : create}
    >
      <SearchedList
        label="API keys"
        what="API key"
        columns={columnsWith(setRevoked)}
        query={query}
        itemsOf={({ apiKeys }) => apiKeys}
        keyOf={({ apiKeyId }) => apiKeyId}
        text={q}
        onSearch={(wanted) => void navigate({ search: wanted === undefined ? {} : { q: wanted }, replace: true })}
        empty={
          <EmptyState icon={<IconKey size={24} />} title="No key yet" actions={create}>
            A personal key acts with your current role. A key of the organization has its own permissions.
          </EmptyState>
        }
        skeleton={<Skeleton height={200} radius="lg" />}
      />
      {isCreating && <CreateApiKey buildPermissions={FOR_BUILDS} onClose={() => setIsCreating(false)} />}
      {revoked !== null && <Revoke apiKey={revoked} onClose={() => setRevoked(null)} />}
    </Page>
  );
}

const columnsWith = (onRevoke: (apiKey: ApiKey) => void): Column<ApiKey>[] => [
  {
    id: 'name',
    title: 'Name',
    isMain: true,
    sortBy: ({ name }) => name.toLowerCase(),
    cell: ({ name, hint }) => (
      <>
        <Text size="sm" fw={560}>
          <Name>{name}</Name>
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {hint}
        </Text>
      </>
    ),
  },
  {
    id: 'whose',
    title: 'Acts as',
    sortBy: ({ user }) => user?.name ?? '',
    cell: ({ user }) => <Name>{user?.name ?? 'the organization'}</Name>,
  },
  {
    id: 'creator',
    title: 'Created by',
    sortBy: ({ createdBy }) => createdBy?.name ?? '',
    cell: ({ createdBy, isBySystem }) =>
      createdBy === null ? (
        <span className="dimmed">{isBySystem ? 'Tocsin itself' : 'a former member'}</span>
      ) : (
        <Name>{createdBy.name}</Name>
      ),
  },
  { id: 'permissions', title: 'May do', cell: ({ permissions, kind }) => permissionsText(permissions, kind) },
  {
    id: 'used',
    title: 'Last used',
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Timestamp at={lastUsedAt} />),
  },
  {
    id: 'created',
    title: 'Created',
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Timestamp at={createdAt} format="date" />,
  },
  {
    id: 'expires',
    title: 'Expires',
    sortBy: ({ expiresAt }) => expiresAt ?? '~',
    cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Timestamp at={expiresAt} format="date" />),
  },
  {
    id: 'revoke',
    title: 'Revoke',
    isTitleHidden: true,
    isRightAligned: true,
    cell: (apiKey) => (
      <Button
        size="xs"
        variant="subtle"
        color="red"
        onClick={() => onRevoke(apiKey)}
        aria-label={`Revoke ${apiKey.name}`}
      >
        Revoke
      </Button>
    ),
  },
];

/** Permissions of a build job: it finds its service, records releases and uploads source maps. */
const FOR_BUILDS: readonly NonNullable<ApiKey['permissions']>[number][] = [
  'services:view',
  'exceptions:view',
  'exceptions:edit',
];

function permissionsText(permissions: ApiKey['permissions'], kind: ApiKey['kind']): string {
  if (permissions === null) return kind === 'user' ? 'same as the person' : 'everything';
  if (permissions.length === FOR_BUILDS.length && FOR_BUILDS.every((right) => permissions.includes(right)))
    return 'releases and source maps, as a build job';
  if (permissions.length > 3) return `${permissions.length} permissions`;
  return permissions.join(', ');
}

function Revoke({ apiKey: { apiKeyId, name }, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const revoking = useMutation({
    mutationFn: () => invoke(org.orgId, 'revoke_api_key', { apiKeyId }),
    async onSuccess() {
      showSuccess(named`${name} is revoked.`);
      onClose();
      await refresh('settings');
    },
  });
  return (
    <Confirm
      title={named`Revoke ${name}?`}
      button="Revoke"
      saving={revoking}
      onConfirm={() => revoking.mutate()}
      onClose={onClose}
    >
      Requests with this key are refused immediately. This cannot be undone.
    </Confirm>
  );
}
