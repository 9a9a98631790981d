import { Button, Skeleton, Text } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { addressOf } from '#console/api/http.ts';
import { change, type Connection, connectionsQuery } from '#console/api/organization.ts';
import { topicKey } from '#console/api/queries.ts';
import { Blank } from '#console/parts/blank.tsx';
import { Confirm } from '#console/parts/confirm.tsx';
import { CopyField } from '#console/parts/copy_field.tsx';
import { type Column, DataTable } from '#console/parts/data_table.tsx';
import { Failure } from '#console/parts/failure.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Name, named } from '#console/parts/name.tsx';
import { Page } from '#console/parts/page.tsx';
import { Status } from '#console/parts/status.tsx';
import { tellDone } from '#console/parts/tell.tsx';
import { useHere } from '#console/shell/organization.tsx';

export function Apps() {
  const { org, isAdmin } = useHere();
  const { data, error, refetch } = useQuery(connectionsQuery(org.orgId));
  const [ended, setEnded] = useState<Connection | null>(null);
  return (
    <Page
      title="Connected apps"
      lead={
        isAdmin
          ? 'Agents and other MCP clients that members have let act in their names.'
          : 'Agents and other MCP clients that you have let act in your name.'
      }
    >
      {error !== null && data === undefined && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={160} radius="lg" />}
      {data?.connections.length === 0 && (
        <Blank icon={<IconPlugConnected size={24} />} title="No app is connected">
          Give this address to an MCP client. It brings you here to log in and to say what it may do.
          <Text component="div" ta="left" mt="md">
            <CopyField label="MCP address" value={addressOf('api/mcp')} />
          </Text>
        </Blank>
      )}
      {data !== undefined && data.connections.length > 0 && (
        <DataTable
          label="Connected apps"
          columns={columnsWith(setEnded)}
          items={data.connections}
          keyOf={({ connectionId }) => connectionId}
        />
      )}
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
    title: 'May',
    cell: ({ access }) =>
      access === 'read_only' ? <Status tone="gray">read only</Status> : <Status tone="amber">make changes</Status>,
  },
  {
    id: 'created',
    title: 'Connected',
    sortBy: ({ createdAt }) => createdAt,
    cell: ({ createdAt }) => <Moment at={createdAt} as="date" />,
  },
  {
    id: 'used',
    title: 'Last used',
    sortBy: ({ lastUsedAt }) => lastUsedAt ?? '',
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Moment at={lastUsedAt} />),
  },
  {
    id: 'end',
    title: 'Disconnect',
    isBare: true,
    isAtEnd: true,
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
  const { org } = useHere();
  const queryClient = useQueryClient();
  const ending = useMutation({
    mutationFn: () => change(org.orgId, 'DELETE', `connections/${connectionId}`),
    async onSuccess() {
      tellDone(named`${clientName} is disconnected.`);
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
    },
  });
  return (
    <Confirm
      title={named`Disconnect ${clientName}?`}
      button="Disconnect"
      isPending={ending.isPending}
      error={ending.error}
      onConfirm={() => ending.mutate()}
      onClose={onClose}
    >
      It no longer acts as <Name>{user.name}</Name>: its very next request is refused. It can ask to be connected again.
    </Confirm>
  );
}
