import { Button, Skeleton } from '@mantine/core';
import { IconDeviceLaptop } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { endOtherSessions, endSession, sessionsQuery } from '#console/api/session.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Status } from '#console/components/status.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { deviceName } from '#console/pages/me/push.ts';

/** Card of the devices where the person is signed in. */
export function SessionsCard() {
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(sessionsQuery);
  const refresh = () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  /** Id of a session, or 'others' for all but this one. */
  const [ended, setEnded] = useState<string | null>(null);
  const ending = useMutation({
    mutationFn: (which: string) => (which === 'others' ? endOtherSessions() : endSession(which)),
    async onSuccess(_result, which) {
      showSuccess(which === 'others' ? 'You are logged out everywhere else.' : 'That device is logged out.');
      setEnded(null);
      await refresh();
    },
  });
  if (error !== null && data === undefined) {
    return <ErrorAlert title="Your sessions could not be loaded" error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return <Skeleton height={140} radius="lg" mt="lg" />;
  const notListed = data.total - data.sessions.length;
  return (
    <Card
      title="Where you are logged in"
      about={
        notListed > 0
          ? `${notListed} more, used longer ago, are not listed. "Log out everywhere else" ends them too.`
          : undefined
      }
      action={
        data.sessions.length > 1 && (
          <Button variant="default" size="xs" onClick={() => setEnded('others')}>
            Log out everywhere else
          </Button>
        )
      }
      rows={data.sessions.map(({ sessionId, userAgent, address, lastUsedAt, createdAt, isCurrent }) => (
        <Row
          key={sessionId}
          icon={<IconDeviceLaptop size={20} stroke={1.75} aria-hidden />}
          title={userAgent === null ? 'Unknown device' : deviceName(userAgent)}
          sub={
            <>
              {address !== null && `${address}, `}
              last used <Timestamp at={lastUsedAt} />, since <Timestamp at={createdAt} format="date" />
            </>
          }
        >
          {isCurrent ? (
            <Status tone="green">here</Status>
          ) : (
            <Button variant="default" size="xs" onClick={() => setEnded(sessionId)}>
              Log out
            </Button>
          )}
        </Row>
      ))}
    >
      {ended !== null && (
        <Confirm
          title={ended === 'others' ? 'Log out everywhere else?' : 'Log out this device?'}
          button="Log out"
          isPending={ending.isPending}
          error={ending.error}
          onConfirm={() => ending.mutate(ended)}
          onClose={() => setEnded(null)}
        >
          {ended === 'others'
            ? 'All other devices have to log in again. They still receive push messages.'
            : 'That device has to log in again. It still receives push messages.'}
        </Confirm>
      )}
    </Card>
  );
}
