import { Button, Group, NativeSelect, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { ask, isApiError } from '#console/api/http.ts';
import { type Organization, sessionQuery } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import classes from '#console/pages/sign_in/connect.module.css';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';
import { StepUp } from '#console/shell/step_up.tsx';
import type { AccountResultOf } from '#console/api/actions.ts';

const route = getRouteApi('/connect/$uid');

/** Page that asks whether an application may act for the person, in which organization, and with which access. */
export function Connect() {
  const { uid } = route.useParams();
  const { data: request, error } = useQuery(connectQuery(uid));
  const { data: session } = useQuery(sessionQuery);
  if (isApiError(error, 404)) {
    return (
      <SignInLayout
        title="This request is over"
        lead="It was already answered, or nobody answered it in time. Start again from the application that wants to connect."
      />
    );
  }
  if (error !== null) {
    return (
      <SignInLayout title="Connect an application">
        <ErrorAlert error={error} />
      </SignInLayout>
    );
  }
  if (request === undefined) {
    return (
      <SignInLayout title="Connect an application">
        <Skeleton height={280} />
      </SignInLayout>
    );
  }
  return (
    <SignInLayout
      title={`Connect ${request.client.name}?`}
      heading={named`Connect ${request.client.name}?`}
      lead="It acts in your name and can never do more than you can. You can disconnect it at any time in the settings."
      foot={session ? named`You are logged in as ${session.user.email}.` : undefined}
    >
      <StepUp />
      <Consent uid={uid} request={request} />
    </SignInLayout>
  );
}

function Consent({ uid, request }: { readonly uid: string; readonly request: ConnectRequest }) {
  const { client, organizations, canChange } = request;
  const [orgId, setOrgId] = useState(organizations[0]?.orgId ?? '');
  const [access, setAccess] = useState<Access>(request.access);
  const { data: session } = useQuery(sessionQuery);
  const permissions = session?.organizations.find((organization) => organization.orgId === orgId)?.permissions ?? [];
  const leave = ({ redirectTo }: { redirectTo: string }) => location.assign(redirectTo);
  const approving = useMutation({ mutationFn: () => approve(uid, { orgId, access }), onSuccess: leave });
  const denying = useMutation({ mutationFn: () => deny(uid), onSuccess: leave });
  const isLeaving = approving.isPending || denying.isPending || approving.isSuccess || denying.isSuccess;
  const failed = approving.error ?? denying.error;
  return (
    <Form error={failed} onSubmit={() => approving.mutate()}>
      <dl className={`${classes.facts} panel small`}>
        <dt>Application</dt>
        <dd>
          <Name>{client.name}</Name>
          {client.uri !== null && (
            <Text span size="sm" c="dimmed">
              {' '}
              ({hostOf(client.uri)})
            </Text>
          )}
        </dd>
        <dt>Returns to</dt>
        <dd>{client.redirectHost}</dd>
      </dl>
      <Text size="sm" c="dimmed" mb="md">
        {client.kind === 'registered'
          ? 'The application chose this name itself. Continue only if you just started this and recognise the address it returns to.'
          : 'The application describes itself at its own address. Continue only if you just started this.'}
      </Text>
      <Stack>
        {failed !== null && <ErrorAlert title="Nothing was connected" error={failed} atFields={{ orgId }} />}
        <NativeSelect
          size="md"
          label="Organization"
          value={orgId}
          onChange={(event) => setOrgId(event.currentTarget.value)}
          error={faultsAtFields(failed, { orgId })['orgId']}
          data={organizations.map(({ orgId: value, name, role }) => ({
            value,
            label: `${isolateBidi(name)} (you are ${role})`,
          }))}
        />
        <Radio.Group label="What it may do" value={access} onChange={(value) => setAccess(value)} size="md">
          <Stack gap="xs" mt={6}>
            <AccessChoice value="read_only" title="Read only" sentences={READ_ONLY} />
            {canChange && <AccessChoice value="changes" title="Also make changes" sentences={changesOf(permissions)} />}
          </Stack>
        </Radio.Group>
        <Group grow mt="xs">
          <Button variant="default" size="md" disabled={isLeaving} onClick={() => denying.mutate()}>
            Deny
          </Button>
          <Button type="submit" size="md" loading={isLeaving} disabled={orgId === ''}>
            Connect
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}

const CHANGES: Readonly<Partial<Record<Organization['permissions'][number], string>>> = {
  'services:edit': 'creates and edits services, enables paid capabilities and rotates keys',
  'services:delete': 'deletes services',
  'dashboards:edit': 'edits dashboards',
  'exceptions:edit': 'resolves and ignores exceptions',
  'oncall:edit': 'answers incidents and edits alert rules, teams, schedules and escalation policies',
};

const READ_ONLY = [
  'It can see services, dashboards, metrics, exceptions with what users sent, incidents, and teams with names and email addresses.',
  'Ingestion keys and DSNs are masked, and so are phone numbers except your own.',
  'It cannot change anything.',
  'Only if an owner turns it on under Settings, Agents, it also writes notes on incidents and proposes changes, which happen when a person approves them.',
];

/** Returns the changes that a connection of somebody with these permissions can make. */
function changesOf(permissions: Organization['permissions']): readonly string[] {
  const changes = permissions.flatMap((permission) => CHANGES[permission] ?? []);
  if (changes.length === 0) {
    return ['Your role cannot change anything in this organization, so this is the same as read only.'];
  }
  return [
    `Also ${new Intl.ListFormat('en').format(changes)}.`,
    'It can see ingestion keys and DSNs: anyone who has them can send data that pages people.',
    ...(permissions.includes('oncall:edit') ? ['It can see phone numbers.'] : []),
  ];
}

interface AccessChoiceProps {
  readonly value: Access;
  readonly title: string;
  readonly sentences: readonly string[];
}

function AccessChoice({ value, title, sentences }: AccessChoiceProps) {
  return (
    <Radio.Card value={value} className={classes.choice}>
      <div className={classes.choiceTop}>
        <Radio.Indicator mt={2} />
        <div>
          <Text fw={560}>{title}</Text>
          {sentences.map((sentence) => (
            <div key={sentence} className={`${classes.choiceText} dimmed small`}>
              {sentence}
            </div>
          ))}
        </div>
      </div>
    </Radio.Card>
  );
}

function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).host : uri;
}

type ConnectRequest = AccountResultOf<'get_connect_request'>;
type Access = ConnectRequest['access'];

const connectQuery = (uid: string) =>
  queryOptions({
    queryKey: ['connect', uid],
    queryFn: ({ signal }) => ask<ConnectRequest>(`connect/${encodeURIComponent(uid)}`, { signal }),
    retry: false,
    staleTime: Infinity,
  });

/** Grants the access. Like `deny`, it returns the address where the browser continues. */
const approve = (uid: string, body: { orgId: string; access: Access }) =>
  ask<AccountResultOf<'connect_app'>>(`connect/${encodeURIComponent(uid)}`, { method: 'POST', body });

const deny = (uid: string) =>
  ask<AccountResultOf<'refuse_app'>>(`connect/${encodeURIComponent(uid)}/refusal`, { method: 'POST', body: {} });
