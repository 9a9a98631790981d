import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { meQuery } from '#console/api/organization.ts';
import { Failure } from '#console/parts/failure.tsx';
import { named } from '#console/parts/name.tsx';
import { Page } from '#console/parts/page.tsx';
import { AccountCard } from '#console/rooms/me/account_card.tsx';
import { ChannelsCard } from '#console/rooms/me/channels_card.tsx';
import { ContactCard } from '#console/rooms/me/contact_card.tsx';
import { RepliesCard } from '#console/rooms/me/replies_card.tsx';
import { DevicesCard } from '#console/rooms/me/devices_card.tsx';
import { SecondFactorCard } from '#console/rooms/me/second_factor_card.tsx';
import { SessionsCard } from '#console/rooms/me/sessions_card.tsx';
import { useHere } from '#console/shell/organization.tsx';

/** How the person is reached, and who else may be them. */
export function MePage() {
  const { org, session } = useHere();
  const { data, error, refetch } = useQuery(meQuery(org.orgId));
  return (
    <Page title={session.user.name} lead={named`${session.user.email}, ${org.role} of ${org.name}`} isNarrow>
      {error !== null && data === undefined && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && (
        <Stack mb="lg">
          <Skeleton height={220} radius="lg" />
          <Skeleton height={160} radius="lg" />
        </Stack>
      )}
      {data !== undefined && (
        <>
          <ChannelsCard me={data} />
          <DevicesCard me={data} />
          {data.teams.map((team) => (
            <ContactCard key={team.teamId} team={team} />
          ))}
          <RepliesCard me={data} />
        </>
      )}
      <AccountCard />
      <SecondFactorCard />
      <SessionsCard />
    </Page>
  );
}
