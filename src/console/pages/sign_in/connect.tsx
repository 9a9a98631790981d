import { Button, Group, NativeSelect, Radio, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';

import { type Access, approve, type ConnectRequest, connectQuery, refuse } from '#console/api/connect.ts';
import { isApiError } from '#console/api/http.ts';
import { type Organization, sessionQuery } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { isolateBidi } from '#console/components/bidi.ts';
import { Name } from '#console/components/name.tsx';
import classes from '#console/pages/sign_in/connect.module.css';
import { SignInLayout } from '#console/pages/sign_in/sign_in_layout.tsx';

const route = getRouteApi('/connect/$uid');

/** Whether an application may act in the name of the person, where, and how far. */
export function Connect() {
  const { uid } = route.useParams();
  const { data: asked, error } = useQuery(connectQuery(uid));
  const { data: session } = useQuery(sessionQuery);
  if (isApiError(error, 404)) {
    return (
      <SignInLayout
        title="This request is over"
        lead="It was answered already, or nobody answered it in time. Start again from the application that wants to connect."
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
  if (asked === undefined) {
    return (
      <SignInLayout title="Connect an application">
        <Skeleton height={280} />
      </SignInLayout>
    );
  }
  return (
    <SignInLayout
      title={`Connect ${asked.client.name}?`}
      lead="It will act in your name and never do more than you may yourself. You can disconnect it at any time in the settings."
      foot={`You are logged in as ${session?.user.email ?? 'somebody'}.`}
    >
      <Consent uid={uid} asked={asked} />
    </SignInLayout>
  );
}

function Consent({ uid, asked }: { readonly uid: string; readonly asked: ConnectRequest }) {
  const { client, organizations, canChange } = asked;
  const [orgId, setOrgId] = useState(organizations[0]?.orgId ?? '');
  const [access, setAccess] = useState<Access>(asked.access);
  const { data: session } = useQuery(sessionQuery);
  const permissions = session?.organizations.find((organization) => organization.orgId === orgId)?.permissions ?? [];
  const goOn = ({ redirectTo }: { redirectTo: string }) => location.assign(redirectTo);
  const approving = useMutation({ mutationFn: () => approve(uid, { orgId, access }), onSuccess: goOn });
  const refusing = useMutation({ mutationFn: () => refuse(uid), onSuccess: goOn });
  const isLeaving = approving.isPending || refusing.isPending || approving.isSuccess || refusing.isSuccess;
  const failed = approving.error ?? refusing.error;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        approving.mutate();
      }}
    >
      <dl className={classes.facts}>
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
          ? 'The application chose its name itself. Go on only if you have just started this, and know where it returns to.'
          : 'The application is described at its own address. Go on only if you have just started this.'}
      </Text>
      <Stack>
        {failed !== null && <ErrorAlert title="Nothing was connected" error={failed} />}
        <NativeSelect
          size="md"
          label="Organization"
          value={orgId}
          onChange={(event) => setOrgId(event.currentTarget.value)}
          data={organizations.map(({ orgId: value, name, role }) => ({
            value,
            label: `${isolateBidi(name)} (you are ${role})`,
          }))}
        />
        <Radio.Group label="What it may do" value={access} onChange={(value) => setAccess(value)} size="md">
          <Stack gap="xs" mt={6}>
            <AccessChoice
              value="read_only"
              title="Read only"
              text="Sees services, dashboards, metrics, exceptions, incidents, and teams with their phone numbers. Ingestion keys and DSNs are masked, and it changes nothing."
            />
            {canChange && <AccessChoice value="changes" title="Also make changes" text={changesOf(permissions)} />}
          </Stack>
        </Radio.Group>
        <Group grow mt="xs">
          <Button variant="default" size="md" disabled={isLeaving} onClick={() => refusing.mutate()}>
            Refuse
          </Button>
          <Button type="submit" size="md" loading={isLeaving} disabled={orgId === ''}>
            Connect
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

const CHANGES: Readonly<Partial<Record<Organization['permissions'][number], string>>> = {
  'services:edit': 'creates and edits services, enables what costs money and rotates keys',
  'services:delete': 'deletes services',
  'dashboards:edit': 'edits dashboards',
  'exceptions:edit': 'resolves and ignores exceptions',
  'oncall:edit': 'answers incidents and edits alert rules, teams, schedules and escalation policies',
};

/** What a connection does beyond looking, for somebody who may do this. */
function changesOf(permissions: Organization['permissions']): string {
  const changes = permissions.flatMap((permission) => CHANGES[permission] ?? []);
  if (changes.length === 0) return 'Your role changes nothing in this organization, so this is the same as read only.';
  return `Also ${new Intl.ListFormat('en').format(changes)}. Sees ingestion keys and DSNs, with which data can be sent that pages people.`;
}

function AccessChoice({
  value,
  title,
  text,
}: {
  readonly value: Access;
  readonly title: string;
  readonly text: string;
}) {
  return (
    <Radio.Card value={value} className={classes.choice}>
      <div className={classes.choiceTop}>
        <Radio.Indicator mt={2} />
        <div>
          <Text fw={560}>{title}</Text>
          <div className={classes.choiceText}>{text}</div>
        </div>
      </div>
    </Radio.Card>
  );
}

function hostOf(uri: string): string {
  return URL.canParse(uri) ? new URL(uri).host : uri;
}
