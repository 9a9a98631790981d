import { Button, List, Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconDownload } from '@tabler/icons-react';

import { meQuery } from '#console/api/organization.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { named } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { AccountCard } from '#console/pages/me/account_card.tsx';
import { ChannelsCard } from '#console/pages/me/channels_card.tsx';
import { ContactCard } from '#console/pages/me/contact_card.tsx';
import { ReadinessCard } from '#console/pages/me/readiness_card.tsx';
import { RepliesCard } from '#console/pages/me/replies_card.tsx';
import { DevicesCard } from '#console/pages/me/devices_card.tsx';
import { SecondFactorCard } from '#console/pages/me/second_factor_card.tsx';
import { ShiftsCard } from '#console/pages/me/shifts_card.tsx';
import { SessionsCard } from '#console/pages/me/sessions_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { addressOf } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

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
          <ReadinessCard me={data} />
          <ChannelsCard me={data} />
          <DevicesCard me={data} />
          <SilenceCard />
          {data.teams.map((team) => (
            <ContactCard key={team.teamId} team={team} contact={team.contact} />
          ))}
          <ContactCard team={null} contact={data.own} isOnly={data.teams.length === 0} />
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
