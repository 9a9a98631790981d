import { Button, Stack, Text, Title } from '@mantine/core';

import { leave } from '#console/api/session.ts';
import { SecondFactorCard } from '#console/pages/me/second_factor_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Page in place of all others for owners and admins without the second factor that their organization requires. */
export function SecondFactorRequired() {
  const { org } = useOrganization();
  return (
    <Stack component="main" maw={640} mx="auto" p="lg">
      <Title order={1}>Set up a second factor</Title>
      <Text>
        <bdi>{org.name}</bdi> requires its owners and admins to have one. Set it up here to continue.
      </Text>
      <SecondFactorCard />
      <Button variant="default" onClick={() => void leave()}>
        Log out
      </Button>
    </Stack>
  );
}
