import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { addressOf } from '#console/api/http.ts';
import { signInSettingsQuery } from '#console/api/organization.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Page } from '#console/components/page.tsx';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import { DomainsCard } from '#console/pages/settings/sign_in/domains_card.tsx';
import { MemberSessions } from '#console/pages/settings/sign_in/member_sessions.tsx';
import { NetworksCard } from '#console/pages/settings/sign_in/networks_card.tsx';
import { ProviderCard } from '#console/pages/settings/sign_in/provider_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Page of how people sign in to the organization, from where, and where they are signed in. */
export function SignInSettings() {
  const { isAdmin } = useOrganization();
  return (
    <Page
      title="Sign-in"
      lead={
        <>
          The provider that your people already sign in to, and the networks you admit. Only owners change it.{' '}
          <a href={addressOf('docs/sign_in')}>How sign-in works</a>
        </>
      }
    >
      {isAdmin ? <Settings /> : <AdminsOnly what="How people sign in" />}
    </Page>
  );
}

function Settings() {
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery(signInSettingsQuery(org.orgId));
  if (data === undefined) {
    return error === null ? (
      <Skeleton height={240} radius="lg" />
    ) : (
      <ErrorAlert error={error} onRetry={() => void refetch()} />
    );
  }
  return (
    <Stack gap={0}>
      <ProviderCard settings={data} />
      <DomainsCard settings={data} />
      <NetworksCard settings={data} />
      {org.role === 'owner' && <MemberSessions />}
    </Stack>
  );
}
