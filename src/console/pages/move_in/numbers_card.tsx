import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';

import { actionQuery, invoke, type ResultOf } from '#console/api/actions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import classes from '#console/pages/move_in/move_in.module.css';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

type Person = ResultOf<'get_number_campaign'>['open'][number];

/** Time between two looks: people confirm their numbers meanwhile. */
const LOOK_MS = 10_000;

const STATES: Record<Person['state'], string> = {
  no_number: 'has no number',
  unconfirmed: 'has not confirmed a number',
  untested: 'has not received a test',
  done: 'is done',
};

/** Card on who has confirmed their number and received a test, and on asking the others. */
export function NumbersCard() {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { data, error, refetch } = useQuery({
    ...actionQuery(org.orgId, 'settings', 'get_number_campaign', {}),
    refetchInterval: LOOK_MS,
  });
  const onSuccess = () => refresh('settings');
  const starting = useMutation({ mutationFn: () => invoke(org.orgId, 'start_number_campaign', {}), onSuccess });
  const stopping = useMutation({ mutationFn: () => invoke(org.orgId, 'stop_number_campaign', {}), onSuccess });
  const failed = starting.error ?? stopping.error;
  return (
    <Card
      title="Confirm numbers"
      about="Numbers come along unconfirmed. Each member of a team confirms their own by a code, and receives a test, on the page Me."
    >
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={80} radius="lg" />}
      {data !== undefined && (
        <Stack gap="sm">
          {data.people === 0 ? (
            <Text size="sm">No team has members yet.</Text>
          ) : (
            <Group gap="xs">
              <Status tone={data.done === data.people ? 'green' : 'amber'}>
                {data.done === data.people ? 'Done' : 'Open'}
              </Status>
              <Text size="sm">
                {data.done.toLocaleString()} of {data.people.toLocaleString()} people have done both.
              </Text>
            </Group>
          )}
          {data.since === null ? (
            <Text size="sm">Nobody is asked yet.</Text>
          ) : (
            <Text size="sm">
              Asked by mail since <Timestamp at={data.since} />, again every three days, five times at most.
            </Text>
          )}
          {!data.hasMail && (
            <Text size="sm" c="red">
              No mail leaves this server, so nobody is asked. The list shows whom to ask in person.
            </Text>
          )}
          <ul className={`${classes.items} plain-list`}>
            {data.open.map((person) => (
              <li key={person.userId}>
                <Text size="sm">
                  <Name>{person.name}</Name> {STATES[person.state]}
                  <Asked person={person} />
                </Text>
              </li>
            ))}
          </ul>
          {data.people - data.done > data.open.length && (
            <Text size="sm" c="dimmed">
              {(data.people - data.done - data.open.length).toLocaleString()} more are not shown.
            </Text>
          )}
          {failed !== null && <ErrorAlert title="Nothing was changed" error={failed} />}
          <Group>
            {data.since === null ? (
              <Button loading={starting.isPending} disabled={data.people === 0} onClick={() => starting.mutate()}>
                Ask everybody
              </Button>
            ) : (
              <Button variant="default" loading={stopping.isPending} onClick={() => stopping.mutate()}>
                Stop asking
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Card>
  );
}

function Asked({ person: { times, askedAt, nextAt } }: { readonly person: Person }) {
  if (askedAt === null) return null;
  return (
    <>
      {' · '}asked {times === 1 ? 'once' : `${times} times`}, last <Timestamp at={askedAt} />
      {nextAt !== null && (
        <>
          , again <Timestamp at={nextAt} />
        </>
      )}
    </>
  );
}
