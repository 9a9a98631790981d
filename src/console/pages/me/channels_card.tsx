import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';

import { invoke } from '#console/api/actions.ts';
import type { Channel, Me, TestNotification } from '#console/api/organization.ts';
import { topicKey } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { SHOWN_CHANNELS, ChannelIcon } from '#console/components/text/channel.tsx';
import { phonesOf } from '#console/pages/me/phones_of.ts';
import { errorMessage } from '#console/components/error_alert.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { CHANNEL_DECLARATIONS, declarationOf } from '#modules/contacts/decide/channel.ts';

/** Card of every channel that can reach the person, with a test that shows whether it works. */
export function ChannelsCard({ me }: { readonly me: Me }) {
  return (
    <Card
      title="How you are reached"
      about="A test takes the same way as a page. Try each channel once before you are on call."
      rows={SHOWN_CHANNELS.map((channel) => (
        <ChannelRow
          key={channel}
          channel={channel}
          me={me}
          isConfigured={me.channels.find((candidate) => candidate.channel === channel)?.configured ?? false}
        />
      ))}
    />
  );
}

interface ChannelRowProps {
  readonly channel: Channel;
  readonly me: Me;
  readonly isConfigured: boolean;
}

function ChannelRow({ channel, me, isConfigured }: ChannelRowProps) {
  const { orgId } = useOrganization().org;
  const test = useMutation({
    mutationFn: () => invoke(orgId, 'send_test_notification', { channel }),
  });
  const destination = useDestination(channel, me);
  return (
    <Row
      icon={<ChannelIcon channel={channel} size={20} />}
      title={CHANNEL_DECLARATIONS[channel].title}
      sub={
        <>
          {isConfigured ? (destination ?? missing(channel)) : 'Not set up on this server. Ask your administrator.'}
          <div aria-live="polite">
            {test.isError && errorMessage(test.error)}
            {test.data?.testNotifications.map((sent) => (
              <TestResult key={sent.notificationId} sent={sent} />
            ))}
          </div>
        </>
      }
    >
      <Button
        variant="default"
        disabled={!isConfigured || destination === null}
        loading={test.isPending}
        onClick={() => test.mutate()}
        aria-label={`Send a test by ${CHANNEL_DECLARATIONS[channel].title}`}
      >
        Send a test
      </Button>
    </Row>
  );
}

/** Returns the destination of messages; null if there is none. */
function useDestination(channel: Channel, me: Me): string | null {
  const { email } = useOrganization().session.user;
  switch (declarationOf(channel).addressKind) {
    case 'email':
      return email;
    case 'browser': {
      const count = me.pushSubscriptions.length;
      return count === 0 ? null : `${count} ${count === 1 ? 'device' : 'devices'}`;
    }
    case 'phone': {
      const phones = new Set(phonesOf(me));
      return phones.size === 0 ? null : [...phones].join(', ');
    }
  }
}

function missing(channel: Channel): string {
  switch (declarationOf(channel).addressKind) {
    case 'browser':
      return 'No device yet: add this one below.';
    case 'phone':
      return 'No number yet: add one below.';
    case 'email':
      return 'Your account has no mail address.';
  }
}

const POLL_MS = 1_000;

const RESULTS: Record<TestNotification['status'], readonly [tone: Tone, word: string]> = {
  queued: ['blue', 'on its way'],
  sent: ['blue', 'sent'],
  delivered: ['green', 'arrived'],
  failed: ['red', 'failed'],
  skipped: ['gray', 'skipped'],
  cancelled: ['gray', 'cancelled'],
};

/** Time for which the status is polled: it can change for a while after the provider has accepted the message. */
const POLL_UNTIL_MS = 60_000;

function TestResult({ sent }: { readonly sent: TestNotification }) {
  const { orgId } = useOrganization().org;
  const { notificationId } = sent;
  const { data } = useQuery({
    queryKey: ['test-notification', notificationId],
    queryFn: ({ signal }) => invoke(orgId, 'get_test_notification', { notificationId }, signal),
    initialData: sent,
    staleTime: 0,
    refetchInterval: ({ state }) => {
      const isOver = state.data === undefined || !['queued', 'sent'].includes(state.data.status);
      return isOver || Date.now() - Date.parse(sent.updatedAt) > POLL_UNTIL_MS ? false : POLL_MS;
    },
  });
  const queryClient = useQueryClient();
  const { status } = data;
  // An arrived message proves that the person can be woken.
  useEffect(() => {
    if (status === 'delivered') void queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
  }, [queryClient, orgId, status]);
  const [tone, word] = RESULTS[status];
  return (
    <div>
      <Status tone={tone}>
        {word}
        {data.to === null ? '' : ` (${data.to})`}
      </Status>
      {data.reason !== null && ` ${reasonOf(data.reason)}`}
    </div>
  );
}
