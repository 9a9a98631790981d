import { Button, Skeleton, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { type Connection, connectionSearchQuery } from '#console/api/organization.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import type { Column } from '#console/components/lists/data_table.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { Status } from '#console/components/status.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { IconPlugConnected } from '#console/icons.ts';
import { SearchedList } from '#console/pages/settings/searched_list.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

const route = getRouteApi('/inside/settings/apps');

export function Apps() {
  const { org, isAdmin } = useOrganization();
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const text = useDebounced(q?.trim() ?? '');
  const query = useInfiniteQuery(connectionSearchQuery(org.orgId, text === '' ? {} : { text }));
  const [ended, setEnded] = useState<Connection | null>(null);
  return (
    <Page
      title="Connected apps"
      lead={
        isAdmin
          ? 'Agents and other MCP clients that members allowed to act in their name.'
          : 'Agents and other MCP clients that you allowed to act in your name.'
      }
    >
      <SearchedList
        label="connected apps"
        what="connected app"
        columns={columnsWith(setEnded)}
        query={query}
        itemsOf={({ connections }) => connections}
        keyOf={({ connectionId }) => connectionId}
        text={q}
        onSearch={(wanted) => void navigate({ search: wanted === undefined ? {} : { q: wanted }, replace: true })}
        empty={
          <EmptyState icon={<IconPlugConnected size={24} />} title="No app is connected">
            Give this address to an MCP client. It sends you here to log in and choose what it may do.
            <Text component="div" ta="left" mt="md">
              <CopyField label="MCP address" value={addressOf(API_PATHS.mcp)} />
            </Text>
          </EmptyState>
        }
        skeleton={<Skeleton height={160} radius="lg" />}
      />
      {ended !== null && <Disconnect connection={ended} onClose={() => setEnded(null)} />}
    </Page>
  );
}

const columnsWith = (onEnd: (connection: Connection) => void): Column<Connection>[] => [
  {
    id: 'client',
    title: 'App',
    isMain: true,
    sortBy: ({ clientName }) => clientName.toLowerCase(),
    cell: ({ clientName, clientUri }) => (
      <>
        <Text size="sm" fw={560}>
          <Name>{clientName}</Name>
        </Text>
        {clientUri !== null && (
          <Text size="xs" c="dimmed">
            <Name>{clientUri}</Name>
          </Text>
        )}
      </>
    ),
  },
  { id: 'user', title: 'Acts as', sortBy: ({ user }) => user.name, cell: ({ user }) => <Name>{user.name}</Name> },
  {
    id: 'access',
    title: 'May do',
    cell: ({ access }) =>
      access === 'read_only' ? <Status tone="gray">read only</Status> : <Status tone="amber">make changes</Status>,
  },
  {
    id: 'created',
    title: 'Connected',
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Timestamp at={createdAt} format="date" />,
  },
  {
    id: 'used',
    title: 'Last used',
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Timestamp at={lastUsedAt} />),
  },
  {
    id: 'end',
    title: 'Disconnect',
    isTitleHidden: true,
    isRightAligned: true,
    cell: (connection) => (
      <Button
        size="xs"
        variant="subtle"
        color="red"
        onClick={() => onEnd(connection)}
        aria-label={`Disconnect ${connection.clientName} of ${connection.user.name}`}
      >
        Disconnect
      </Button>
    ),
  },
];

interface DisconnectProps {
  readonly connection: Connection;
  readonly onClose: () => void;
}

function Disconnect({ connection: { connectionId, clientName, user }, onClose }: DisconnectProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const ending = useMutation({
    mutationFn: () => invoke(org.orgId, 'disconnect_app', { connectionId }),
    async onSuccess() {
      showSuccess(named`${clientName} is disconnected.`);
      onClose();
      await refresh('settings');
    },
  });
  return (
    <Confirm
      title={named`Disconnect ${clientName}?`}
      button="Disconnect"
      saving={ending}
      onConfirm={() => ending.mutate()}
      onClose={onClose}
    >
      It can no longer act as <Name>{user.name}</Name>: its next request is refused. It can ask to connect again.
    </Confirm>
  );
}
