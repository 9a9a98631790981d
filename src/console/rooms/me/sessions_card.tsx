import { Button, Skeleton } from '@mantine/core';
import { IconDeviceLaptop } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { endOtherSessions, endSession, sessionsQuery } from '#console/api/session.ts';
import { Card, Row } from '#console/parts/card.tsx';
import { Failure } from '#console/parts/failure.tsx';
import { Moment } from '#console/parts/moment.tsx';
import { Status } from '#console/parts/status.tsx';
import { tellDone, tellFailed } from '#console/parts/tell.tsx';
import { deviceName } from '#console/rooms/me/push.ts';

/** Where the person is logged in. */
export function SessionsCard() {
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(sessionsQuery);
  const refresh = () => queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
  const onError = (cause: unknown) => tellFailed('The session goes on', cause);
  const ending = useMutation({ mutationFn: endSession, onSuccess: refresh, onError });
  const endingOthers = useMutation({
    mutationFn: endOtherSessions,
    onError,
    onSuccess() {
      tellDone('You are logged out everywhere else.');
      return refresh();
    },
  });
  if (error !== null && data === undefined) {
    return <Failure title="Your sessions could not be loaded" error={error} onRetry={() => void refetch()} />;
  }
  if (data === undefined) return <Skeleton height={140} radius="lg" mt="lg" />;
  return (
    <Card
      title="Where you are logged in"
      action={
        data.sessions.length > 1 && (
          <Button variant="default" size="xs" onClick={() => endingOthers.mutate()} loading={endingOthers.isPending}>
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
              last used <Moment at={lastUsedAt} />, since <Moment at={createdAt} as="date" />
            </>
          }
        >
          {isCurrent ? (
            <Status tone="green">here</Status>
          ) : (
            <Button
              variant="default"
              size="xs"
              onClick={() => ending.mutate(sessionId)}
              loading={ending.isPending && ending.variables === sessionId}
            >
              Log out
            </Button>
          )}
        </Row>
      ))}
    />
  );
}
