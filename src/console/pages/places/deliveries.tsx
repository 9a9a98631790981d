import { Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ShowMore } from '#console/components/lists/load_more.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { eventText, type Place, type PlaceDelivery, statusText } from '#console/pages/places/place_texts.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const TONES: Readonly<Record<PlaceDelivery['status'], Tone>> = {
  waiting: 'amber',
  sent: 'green',
  superseded: 'gray',
  dead: 'red',
};

/** Time after which deliveries that wait are read again. */
const WAITING_MS = 2_000;

/** Dialog with the deliveries of a place: what was sent, what was answered, and sending one again. */
export function Deliveries({ place, onClose }: { readonly place: Place; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const { placeId, name } = place;
  const query = useInfiniteQuery({
    queryKey: [...topicKey(orgId, 'settings'), 'list_place_deliveries', placeId],
    queryFn: ({ pageParam, signal }) =>
      invoke(orgId, 'list_place_deliveries', { placeId, ...(pageParam !== null && { before: pageParam }) }, signal),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
    // Nothing else tells what came of those that were on their way.
    refetchInterval: ({ state }) =>
      state.data?.pages.some((page) => page.deliveries.some(({ status }) => status === 'waiting')) === true
        ? WAITING_MS
        : false,
  });
  const { data, error, refetch } = query;
  const deliveries = data?.pages.flatMap((page) => page.deliveries);
  return (
    <Dialog onClose={onClose} title={named`Deliveries to ${name}`} isWide>
      <Stack>
        {error !== null && deliveries === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {deliveries === undefined && error === null && <Skeleton height={200} />}
        {deliveries?.length === 0 && <Text size="sm">Nothing was delivered yet.</Text>}
        {deliveries?.map((delivery) => (
          <Delivery key={delivery.deliveryId} delivery={delivery} isOn={place.isOn} />
        ))}
        <ShowMore list={query}>Show earlier ones</ShowMore>
      </Stack>
    </Dialog>
  );
}

function Delivery({ delivery, isOn }: { readonly delivery: PlaceDelivery; readonly isOn: boolean }) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const [isOpen, setIsOpen] = useState(false);
  const { deliveryId, event, status, createdAt, tries, nextTryAt, failure, body, answer, answerStatus } = delivery;
  const sending = useMutation({
    mutationFn: () => invoke(orgId, 'redeliver_to_place', { deliveryId }),
    async onSuccess() {
      showSuccess('It is sent again.');
      await refresh('settings');
    },
  });
  return (
    <Stack gap={4}>
      <Group justify="space-between">
        <Text size="sm">
          <Status tone={TONES[status]}>{statusText(status)}</Status> {eventText(event)}, <Timestamp at={createdAt} />
          {tries > 1 && `, ${tries} attempts`}
        </Text>
        <Group gap="xs">
          <Button size="xs" variant="subtle" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            Details
          </Button>
          {status !== 'waiting' && isOn && (
            <Button size="xs" variant="default" onClick={() => sending.mutate()} loading={sending.isPending}>
              Send again
            </Button>
          )}
        </Group>
      </Group>
      {failure !== null && <Text size="sm">{failure}</Text>}
      {nextTryAt !== null && tries > 0 && (
        <Text size="sm" c="dimmed">
          Next attempt <Timestamp at={nextTryAt} />
        </Text>
      )}
      {sending.isError && <ErrorAlert title="It is not sent again" error={sending.error} />}
      {isOpen && (
        <>
          <Text size="xs" c="dimmed">
            Sent
          </Text>
          <Code block tabIndex={0}>
            {body ?? 'nothing yet'}
          </Code>
          <Text size="xs" c="dimmed">
            Answered{answerStatus !== null && ` with status ${answerStatus}`}
          </Text>
          <Code block tabIndex={0}>
            {answer ?? 'nothing'}
          </Code>
        </>
      )}
    </Stack>
  );
}
