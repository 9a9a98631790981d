import { Switch, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import { sessionQuery } from '#console/api/session.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

/** Card on whether owners and admins must have a second factor. */
export function SecondFactorPolicy() {
  const { org, session } = useOrganization();
  const queryClient = useQueryClient();
  const setting = useMutation({
    mutationFn: (required: boolean) => invoke(org.orgId, 'set_second_factor_policy', { required }),
    async onSuccess({ required }) {
      showSuccess(required ? 'Owners and admins need a second factor now.' : 'A second factor is optional again.');
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  const isBlocked = !session.user.hasSecondFactor && !org.secondFactorRequired;
  return (
    <Card title="Second factor">
      <Switch
        label="Owners and admins must have a second factor"
        description="Those without one must set it up before they can continue."
        checked={org.secondFactorRequired}
        disabled={isBlocked || setting.isPending}
        onChange={(event) => setting.mutate(event.currentTarget.checked)}
      />
      {isBlocked && (
        <Text size="sm" c="dimmed" mt="xs">
          Set up your own second factor first, on the page Me. Otherwise you would lock yourself out.
        </Text>
      )}
      {setting.isError && <ErrorAlert title="Nothing was changed" error={setting.error} />}
    </Card>
  );
}
