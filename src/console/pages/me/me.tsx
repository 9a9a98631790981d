import { Button, List, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { addressOf } from '#console/api/http.ts';
import { type Me, meQuery } from '#console/api/organization.ts';
import { endOtherSessions, endSession, sessionsQuery } from '#console/api/session.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { isSame } from '#console/components/forms/merge_changes.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { Page } from '#console/components/page.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { whyUnused } from '#console/components/text/channel.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp, useNow } from '#console/components/text/timestamp.tsx';
import { IconDeviceLaptop, IconDownload } from '#console/icons.ts';
import { AccountCard } from '#console/pages/me/account_card.tsx';
import { ChannelsCard, ContactCard } from '#console/pages/me/contact_card.tsx';
import { DevicesCard } from '#console/pages/me/devices_card.tsx';
import { OwnCalendarButton } from '#console/pages/me/own_calendar_button.tsx';
import { deviceName } from '#console/pages/me/push.ts';
import { RepliesCard } from '#console/pages/me/replies_card.tsx';
import { SecondFactorCard } from '#console/pages/me/second_factor_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';
import { READINESS_REASONS, type ReadinessAnswer } from '#modules/contacts/decide/readiness_words.ts';

/** Card on how pages are heard although phones are silent at night. */
function SilenceCard() {
  const { orgId } = useOrganization().org;
  return (
    <Card
      title="While your phone is silent"
      about="Do Not Disturb keeps pages from waking you, unless your phone knows who sends them."
    >
      <List size="sm" mb="md">
        <List.Item>Add the contact card to the address book of your phone.</List.Item>
        <List.Item>
          iPhone: edit the contact, and turn on Emergency Bypass for its ringtone and its text tone.
        </List.Item>
        <List.Item>Android: make it a starred contact, and let starred contacts interrupt Do Not Disturb.</List.Item>
      </List>
      <Button
        component="a"
        variant="default"
        leftSection={<IconDownload size={16} />}
        href={addressOf(`${API_PATHS.console}/organizations/${orgId}/actions/get_contact_card`)}
        download
      >
        Download the contact card
      </Button>
    </Card>
  );
}

const canSendSms = ({ channels }: Me) => channels.some(({ channel, configured }) => channel === 'sms' && configured);

/** Page of how the person is reached, and how their account is protected. */
export function MePage() {
  const { org, session } = useOrganization();
  const { data, error, refetch } = useQuery(meQuery(org.orgId));
  return (
    <Page title={session.user.name} lead={named`${session.user.email}, ${org.role} of ${org.name}`} isNarrow>
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Stack mb="lg">
          <Skeleton height={220} radius="lg" />
          <Skeleton height={160} radius="lg" />
        </Stack>
      )}
      {data !== undefined && (
        <>
          {/* Above what saving it changes, so that nothing moves under the button. */}
          <ContactCard team={null} contact={data.own} canSendSms={canSendSms(data)} />
          <ReadinessCard me={data} />
          <ChannelsCard me={data} />
          <DevicesCard me={data} />
          <SilenceCard />
          {data.teams.map((team) => (
            <ContactCard
              key={team.teamId}
              team={team}
              contact={team.contact}
              ownPhone={data.own.phone}
              canSendSms={canSendSms(data)}
            />
          ))}
          <ShiftsCard shifts={data.shifts} />
          <RepliesCard me={data} />
        </>
      )}
      {/* Shown only after the content above, which would push them down. */}
      {(data !== undefined || error !== null) && (
        <>
          <AccountCard />
          <SecondFactorCard />
          <SessionsCard />
        </>
      )}
    </Page>
  );
}

/** Card of the person's shifts, and of the calendar with them. */
function ShiftsCard({ shifts }: { readonly shifts: Me['shifts'] }) {
  const now = new Date(useNow(5)).toISOString();
  if (shifts.length === 0) {
    return (
      <Card title="Your shifts" action={<OwnCalendarButton />}>
        <Text size="sm" c="dimmed">
          You have no shift in the next 90 days.
        </Text>
      </Card>
    );
  }
  return (
    <Card
      title="Your shifts"
      about="Those of the next 90 days."
      action={<OwnCalendarButton />}
      rows={shifts.map(({ scheduleId, scheduleName, teamName, since, until, source }) => (
        <Row
          key={`${scheduleId} ${since}`}
          title={
            <>
              <Timestamp at={since} format="date_time" />
              {until === null ? (
                ', until further notice'
              ) : (
                <>
                  {' to '}
                  <Timestamp at={until} format="date_time" />
                </>
              )}
            </>
          }
          sub={
            <>
              <Name>{teamName}</Name>, <Name>{scheduleName}</Name>
              {source === 'override' && ' (override)'}
            </>
          }
        >
          {since <= now && (until === null || now < until) ? (
            <Status tone="blue">on call now</Status>
          ) : (
            <span className="dimmed">
              <Timestamp at={since} />
            </span>
          )}
        </Row>
      ))}
    />
  );
}

/** Card of the devices where the person is signed in. */
function SessionsCard() {
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
          saving={ending}
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

type Readiness = Me['ownReadiness'];

const ANSWERS: Record<ReadinessAnswer, readonly [Tone, string]> = {
  yes: ['green', 'yes'],
  unproved: ['amber', 'not tested'],
  no: ['red', 'no'],
};

/** Card on whether a page at night would wake the person, from stored data, without sending anything. */
function ReadinessCard({ me: { teams, ownReadiness } }: { readonly me: Me }) {
  const isAlike = teams.every(({ readiness }) => isSame(readiness, ownReadiness));
  return (
    <Card
      title="Would a page wake you?"
      about="Judged by your settings and by what has arrived. Nothing is sent to find out."
      rows={
        <>
          {!isAlike &&
            teams.map(({ teamId, name, readiness }) => (
              <ReadinessRow key={teamId} title={<Name>{name}</Name>} readiness={readiness} />
            ))}
          <ReadinessRow
            title={teams.length === 0 ? 'When a page names you' : isAlike ? 'In every team' : 'Other teams'}
            readiness={ownReadiness}
          />
        </>
      }
    />
  );
}

function ReadinessRow({ title, readiness }: { readonly title: React.ReactNode; readonly readiness: Readiness }) {
  const [tone, word] = ANSWERS[readiness.answer];
  return (
    <Row
      title={title}
      sub={
        <>
          {readiness.reasons.map((reason) => (
            <div key={reason}>{READINESS_REASONS[reason].you}</div>
          ))}
          <Waking readiness={readiness} />
        </>
      }
    >
      <Status tone={tone}>{word}</Status>
    </Row>
  );
}

/** Channels that wake, and when something last arrived on them; if there are none, the reason. */
function Waking({ readiness: { channels } }: { readonly readiness: Readiness }) {
  const loud = channels.filter(({ channel }) => CHANNEL_DECLARATIONS[channel].wakes);
  const waking = loud.filter(({ state }) => state === 'ready');
  if (waking.length === 0) {
    const reasons = loud.flatMap(({ channel, state }) =>
      state === 'ready' ? [] : `${CHANNEL_DECLARATIONS[channel].title}: ${whyUnused(channel, state)}`,
    );
    return <div>{reasons.join('; ')}.</div>;
  }
  return (
    <div>
      By{' '}
      {waking.map(({ channel, provedAt }, index) => (
        <span key={channel}>
          {index > 0 && ', '}
          {CHANNEL_DECLARATIONS[channel].title}
          {provedAt !== null && (
            <>
              {' '}
              (arrived <Timestamp at={provedAt} />)
            </>
          )}
        </span>
      ))}
    </div>
  );
}
