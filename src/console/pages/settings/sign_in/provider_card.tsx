import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import type { SignInSettings } from '#console/api/organization.ts';
import { Card } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Status } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

const ConnectProvider = lazyDialog(async () => {
  return (await import('#console/pages/settings/sign_in/connect_provider.tsx')).ConnectProvider;
});

export function ProviderCard({ settings }: { readonly settings: SignInSettings }) {
  const { org } = useOrganization();
  const { connection, redirectUri, signOutUri, logoutUri, signInLink } = settings;
  const [opened, setOpened] = useState<'edit' | 'remove' | null>(null);
  const isOwner = org.role === 'owner';
  return (
    <Card
      title="Provider"
      about={
        connection === null
          ? 'None is connected: people sign in with a mail address and a password.'
          : 'Owners can always sign in with their password as well.'
      }
      action={
        isOwner && (
          <Group gap="xs">
            {connection !== null && (
              <Button variant="subtle" color="red" onClick={() => setOpened('remove')}>
                Disconnect
              </Button>
            )}
            <Button variant={connection === null ? 'filled' : 'default'} onClick={() => setOpened('edit')}>
              {connection === null ? 'Connect a provider' : 'Edit'}
            </Button>
          </Group>
        )
      }
    >
      <Stack gap="sm">
        {connection !== null && <Connection connection={connection} />}
        <CopyField label="Redirect address, to enter at the provider" value={redirectUri} />
        <CopyField label="Redirect address after signing out, to enter at the provider" value={signOutUri} />
        <CopyField label="Address for back-channel logout, to enter at the provider" value={logoutUri} />
        {connection !== null && <CopyField label="Link at which your people begin" value={signInLink} />}
      </Stack>
      {opened === 'edit' && <ConnectProvider connection={connection} onClose={() => setOpened(null)} />}
      {opened === 'remove' && <Disconnect onClose={() => setOpened(null)} />}
    </Card>
  );
}

function Connection({ connection }: { readonly connection: NonNullable<SignInSettings['connection']> }) {
  const { issuer, isEnabled, isRequired, people, lastFault, lastFaultAt } = connection;
  return (
    <>
      <Group gap="xs">
        <Text size="sm" fw={560}>
          <Name>{issuer}</Name>
        </Text>
        <Status tone={isEnabled ? 'green' : 'gray'}>{isEnabled ? 'on' : 'off'}</Status>
        {isRequired && <Status tone="amber">required of all but owners</Status>}
      </Group>
      <Text size="sm" c="dimmed">
        {people === 1 ? '1 person has' : `${people} people have`} signed in through it.
      </Text>
      {lastFault !== null && lastFaultAt !== null && (
        <Alert color="orange" variant="light" title="The last sign-in that failed">
          {lastFault} (<Timestamp at={lastFaultAt} />)
        </Alert>
      )}
    </>
  );
}

function Disconnect({ onClose }: { readonly onClose: () => void }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const removing = useMutation({
    mutationFn: () => invoke(org.orgId, 'remove_openid_connection', {}),
    async onSuccess() {
      showSuccess('The provider is disconnected.');
      onClose();
      await refresh('settings');
    },
  });
  return (
    <Confirm
      title="Disconnect the provider?"
      button="Disconnect"
      saving={removing}
      onConfirm={() => removing.mutate()}
      onClose={onClose}
    >
      Whoever signed in through it is out with the next request, and needs a password to come in again.
    </Confirm>
  );
}
