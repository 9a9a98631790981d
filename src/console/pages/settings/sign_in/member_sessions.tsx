import { Button, Group, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { type MemberSession, organizationSessionsQuery } from '#console/api/organization.ts';
import { Card } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import type { Column } from '#console/components/lists/data_table.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { deviceName } from '#console/pages/me/push.ts';
import { SearchedList } from '#console/pages/settings/searched_list.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

interface Ending {
  readonly session: MemberSession;
  readonly isAll: boolean;
}

export function MemberSessions() {
  const { org } = useOrganization();
  const query = useInfiniteQuery(organizationSessionsQuery(org.orgId));
  const [ending, setEnding] = useState<Ending | null>(null);
  return (
    <Card title="Where members are logged in" about="Newest first.">
      <SearchedList
        label="sessions"
        what="session"
        columns={columnsWith(setEnding)}
        query={query}
        itemsOf={({ sessions }) => sessions}
        keyOf={({ sessionId }) => sessionId}
        text={undefined}
        onSearch={() => {}}
        skeleton={null}
      />
      {ending !== null && <EndSession ending={ending} onClose={() => setEnding(null)} />}
    </Card>
  );
}

const columnsWith = (onEnd: (ending: Ending) => void): Column<MemberSession>[] => [
  {
    id: 'person',
    title: 'Person',
    isMain: true,
    sortBy: ({ user }) => user.name.toLowerCase(),
    cell: ({ user, by }) => (
      <>
        <Text size="sm" fw={560}>
          <Name>{user.name}</Name>
        </Text>
        <Text size="xs" c="dimmed">
          {by === 'provider' ? 'by the provider' : 'by password'}
        </Text>
      </>
    ),
  },
  {
    id: 'device',
    title: 'Device',
    cell: ({ userAgent, address }) => (
      <>
        {userAgent === null ? 'Unknown device' : deviceName(userAgent)}
        <Text size="xs" c="dimmed">
          {address ?? 'unknown address'}
        </Text>
      </>
    ),
  },
  {
    id: 'used',
    title: 'Last used',
    sortBy: ({ lastUsedAt }) => lastUsedAt,
    cell: ({ lastUsedAt }) => <Timestamp at={lastUsedAt} />,
  },
  {
    id: 'end',
    title: 'Log out',
    isTitleHidden: true,
    isRightAligned: true,
    cell: (session) => (
      <Group gap={4} justify="end">
        <Button
          size="xs"
          variant="subtle"
          color="red"
          aria-label={`Log out this session of ${session.user.name}`}
          onClick={() => onEnd({ session, isAll: false })}
        >
          Log out
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="red"
          aria-label={`Log out ${session.user.name} everywhere`}
          onClick={() => onEnd({ session, isAll: true })}
        >
          Everywhere
        </Button>
      </Group>
    ),
  },
];

function EndSession({ ending, onClose }: { readonly ending: Ending; readonly onClose: () => void }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { session, isAll } = ending;
  const { user, sessionId } = session;
  const mutation = useMutation({
    mutationFn: () =>
      invoke(org.orgId, 'end_member_sessions', { userId: user.userId, ...(isAll ? {} : { sessionId }) }),
    async onSuccess() {
      showSuccess(named`${user.name} is logged out.`);
      onClose();
      await refresh('settings');
    },
  });
  return (
    <Confirm
      title={isAll ? named`Log out ${user.name} everywhere?` : named`Log out this session of ${user.name}?`}
      button="Log out"
      saving={mutation}
      onConfirm={() => mutation.mutate()}
      onClose={onClose}
    >
      <Name>{user.name}</Name> has to log in again. API keys and connected apps go on working.
    </Confirm>
  );
}
