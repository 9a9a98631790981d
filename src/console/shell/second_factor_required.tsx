import { Button, Stack, Text, Title } from '@mantine/core';

import { addressOf } from '#console/api/http.ts';
import { signOut } from '#console/api/session.ts';
import { SecondFactorCard } from '#console/pages/me/second_factor_card.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** In place of everything, for owners and admins who lack the second factor that their organization asks for. */
export function SecondFactorRequired() {
  const { org } = useOrganization();
  const leave = () => void signOut().finally(() => location.assign(addressOf('login')));
  return (
    <Stack component="main" maw={640} mx="auto" p="lg">
      <Title order={1}>Set up a second factor</Title>
      <Text>
        <bdi>{org.name}</bdi> asks its owners and admins for one. Set it up here, and go on where you were.
      </Text>
      <SecondFactorCard />
      <Button variant="default" onClick={leave}>
        Log out
      </Button>
    </Stack>
  );
}
