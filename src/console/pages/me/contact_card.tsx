import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import type { Channel, Contact, Me, TestNotification } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert, errorMessage } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { phoneFault, withoutSeparators } from '#console/components/forms/phone_number.ts';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { useOpenedByAddress } from '#console/components/page.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { ChannelIcon, SHOWN_CHANNELS } from '#console/components/text/channel.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { recordOf } from '#kernel/records.ts';
import {
  CHANNEL_DECLARATIONS,
  CHANNEL_PREFERENCES,
  type ChannelPreference,
  CHANNELS,
  declarationOf,
} from '#modules/contacts/decide/channel.ts';
import { reasonOf } from '#modules/incidents/decide/reasons.ts';

const LABELS: Readonly<Record<keyof Contact, string>> = {
  phone: 'Phone',
  ...recordOf(CHANNEL_PREFERENCES, (preference) => titleOf(preference)),
};

function titleOf(preference: ChannelPreference): string {
  const channel = CHANNELS.find((candidate) => declarationOf(candidate).preference === preference);
  return channel === undefined ? preference : declarationOf(channel).title;
}

interface ContactCardProps {
  /** Team of the contact; null for incidents of teams that the person is not in. */
  readonly team: Pick<Me['teams'][number], 'teamId' | 'name'> | null;
  readonly contact: Contact;
  /** The person's own number, which counts where the team has none. */
  readonly ownPhone?: string | null;
  /** Whether this server can send SMS. */
  readonly canSendSms: boolean;
}

/** Card of the person's own number and channels, in a team or without one. */
export function ContactCard({ team, contact, ownPhone = null, canSendSms }: ContactCardProps) {
  const teamId = team?.teamId ?? null;
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const { phone, ...switches } = contact;
  const [test, sent] = useChannelTest('sms');
  const field = useRef<HTMLInputElement>(null);
  useOpenedByAddress(teamId ?? 'phone', () => {
    field.current?.scrollIntoView({ block: 'center' });
    field.current?.focus({ preventScroll: true });
  });
  const { form, draft } = useDraftForm({
    form: `update_own_contact ${teamId ?? ''}`,
    base: { phone: phone ?? '', ...switches },
    validate: { phone: phoneFault },
  });
  const saving = useMutation({
    mutationFn: (body: Contact) => invoke(orgId, 'update_own_contact', { teamId, ...body, basedOn: contact }),
    onError: async (error, entered) => {
      form.setErrors(faultsAtFields(error, entered));
      // The form shows what was saved elsewhere beside the input.
      if (isApiError(error, 409)) await refresh('me');
    },
    async onSuccess() {
      showSuccess(
        team === null ? 'Your contact details are saved.' : named`Your contact details in ${team.name} are saved.`,
      );
      draft.done();
      await refresh('me');
      await refresh('teams');
    },
  });
  return (
    <Card
      title={team === null ? 'Your phone' : <Name>{team.name}</Name>}
      about={
        team === null
          ? 'Teams page you at this number unless you give them another one below.'
          : 'How the escalation policies of this team may reach you.'
      }
    >
      <Form
        error={saving.error}
        draft={draft}
        onSubmit={form.onSubmit((values) =>
          saving.mutate({ ...values, phone: withoutSeparators(values.phone) || null }),
        )}
      >
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          <TextInput
            {...form.getInputProps('phone')}
            ref={field}
            label="Phone"
            description={
              team === null || ownPhone === null
                ? 'For SMS and calls'
                : 'For SMS and calls; leave it empty for your own number'
            }
            placeholder={(team !== null && ownPhone) || '+31612345678'}
            type="tel"
            autoComplete="tel"
            maw={320}
          />
          <Group gap="0.5rem 1.25rem">
            {SHOWN_CHANNELS.map((channel) => {
              const { title, preference } = declarationOf(channel);
              if (preference === null) return null;
              return <Switch key={channel} {...form.getInputProps(preference, { type: 'checkbox' })} label={title} />;
            })}
          </Group>
          {saving.isError && (
            <ErrorAlert title="Your contact details were not saved" error={saving.error} atFields={form.values} />
          )}
          <Group>
            <Button type="submit" loading={saving.isPending} disabled={!form.isDirty() || draft.conflicts.length > 0}>
              Save
            </Button>
            {contact.phone !== null && canSendSms && !form.isDirty() && (
              <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                Send a test SMS
              </Button>
            )}
          </Group>
          {!test.isIdle && (
            <div aria-live="polite">
              <TestResults test={test} ids={sent} />
            </div>
          )}
        </Stack>
      </Form>
    </Card>
  );
}

/** Card of every channel that can reach the person, with a test that shows whether it works. */
export function ChannelsCard({ me }: { readonly me: Me }) {
  return (
    <Card
      anchor="tests"
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
  const results = useRef<HTMLDivElement>(null);
  const [test, sent] = useChannelTest(channel);
  const destination = useDestination(channel, me);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const canTest = isConfigured && destination !== null;
  return (
    <Row
      icon={<ChannelIcon channel={channel} size={20} />}
      title={CHANNEL_DECLARATIONS[channel].title}
      sub={
        <>
          {isConfigured ? (destination ?? missing(channel)) : <NotSetUp />}
          <div
            aria-live="polite"
            ref={results}
            style={{ minHeight: canTest ? (isPhone ? '4.5rem' : '1.625rem') : 0, scrollMarginBottom: '7rem' }}
          >
            {canTest && sent.length === 0 && !test.isPending && !test.isError && 'Not tested here yet'}
            <TestResults test={test} ids={sent} />
          </div>
        </>
      }
    >
      <Button
        variant="default"
        disabled={!canTest}
        loading={test.isPending}
        // On a phone the row may be behind the navigation at the bottom.
        onClick={() =>
          test.mutate(undefined, { onSettled: () => results.current?.scrollIntoView({ block: 'nearest' }) })
        }
        aria-label={`Send a test by ${CHANNEL_DECLARATIONS[channel].title}`}
      >
        Send a test
      </Button>
    </Row>
  );
}

/** Says that a channel is not set up: to those who may look why, where. */
function NotSetUp() {
  const { isAdmin } = useOrganization();
  if (!isAdmin) return 'Not set up on this server. Ask your administrator.';
  return (
    <>
      Not set up on this server. <Link to="/settings/delivery">See delivery</Link>
    </>
  );
}

/** Sends tests of a channel, and keeps the ids of the newest, so that their results are shown again after a reload. */
function useChannelTest(channel: Channel) {
  const { org, session } = useOrganization();
  const [stored, store] = useLocalStorage({
    key: `tocsin-tests:${org.orgId}:${session.user.userId}:${channel}`,
    defaultValue: '',
    getInitialValueInEffect: false,
    serialize: (ids) => ids,
    deserialize: (ids) => ids ?? '',
  });
  const test = useMutation({
    mutationFn: () => invoke(org.orgId, 'send_test_notification', { channel }),
    onSuccess: ({ testNotifications }) =>
      store(testNotifications.map(({ notificationId }) => notificationId).join(' ')),
  });
  return [test, stored.split(' ').filter(Boolean)] as const;
}

interface TestResultsProps {
  readonly test: { readonly error: unknown; readonly isPending: boolean };
  readonly ids: readonly string[];
}

function TestResults({ test, ids }: TestResultsProps) {
  if (test.isPending) return null;
  return (
    <>
      {test.error !== null && errorMessage(test.error)}
      {ids.map((id) => (
        <TestResult key={id} notificationId={id} />
      ))}
    </>
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

function missing(channel: Channel): ReactNode {
  switch (declarationOf(channel).addressKind) {
    case 'browser':
      return 'No device yet: add this one below.';
    case 'phone':
      return (
        <Link to="/me" hash="phone">
          No number yet: add one
        </Link>
      );
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

function TestResult({ notificationId }: { readonly notificationId: string }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery({
    queryKey: ['test-notification', notificationId],
    queryFn: ({ signal }) => invoke(orgId, 'get_test_notification', { notificationId }, signal),
    staleTime: 0,
    refetchInterval: ({ state: { data: sent } }) => {
      const isOver = sent === undefined || !['queued', 'sent'].includes(sent.status);
      return isOver || Date.now() - Date.parse(sent.updatedAt) > POLL_UNTIL_MS ? false : POLL_MS;
    },
  });
  const queryClient = useQueryClient();
  const status = data?.status;
  // An arrived message proves that the person can be woken.
  useEffect(() => {
    if (status === 'delivered') void queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
  }, [queryClient, orgId, status]);
  if (data === undefined) return null;
  const { isSimulated, simulatorUrl, to, reason, updatedAt } = data;
  const [tone, word] = isSimulated ? (['amber', 'simulated'] as const) : RESULTS[data.status];
  return (
    <div>
      <Status tone={tone}>{word}</Status>
      {isSimulated && simulatorUrl === null && ' in the phone simulator of this server, '}
      {simulatorUrl !== null && (
        <>
          {' '}
          <a href={simulatorUrl} target="_blank" rel="noreferrer">
            See it in the phone simulator
          </a>
          ,{' '}
        </>
      )}
      {reason !== null && ` ${reasonOf(reason)}`} {!isSimulated && to !== null && `${to}, `}
      <Timestamp at={updatedAt} />
    </div>
  );
}

/** Returns the person's numbers, of all of their teams and their own, each once. */
export function phonesOf({ teams, own }: Pick<Me, 'teams' | 'own'>): string[] {
  return [...new Set([own, ...teams.map(({ contact }) => contact)].flatMap(({ phone }) => phone ?? []))];
}
