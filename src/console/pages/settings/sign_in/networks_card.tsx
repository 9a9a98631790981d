import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { SignInSettings as Settings } from '#console/api/organization.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

export function NetworksCard({ settings }: { readonly settings: Settings }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { keyNetworks, sessionNetworks } = settings;
  const form = useForm({ initialValues: { keys: textOf(keyNetworks), sessions: textOf(sessionNetworks) } });
  const saving = useMutation({
    mutationFn: ({ keys, sessions }: typeof form.values) =>
      invoke(org.orgId, 'set_address_lists', {
        keyNetworks: listOf(keys),
        sessionNetworks: listOf(sessions),
        basedOn: { keyNetworks, sessionNetworks },
      }),
    async onSuccess(lists) {
      form.setInitialValues({ keys: textOf(lists.keyNetworks), sessions: textOf(lists.sessionNetworks) });
      form.reset();
      showSuccess('The networks are saved.');
      await refresh('settings');
    },
  });
  const isOwner = org.role === 'owner';
  const fields = { minRows: 2, autosize: true, spellCheck: false, disabled: !isOwner } as const;
  return (
    <Card
      title="Networks"
      about="Addresses and networks such as 192.0.2.0/24, one a line. Ingestion keys and answers to pages are not affected."
    >
      <Form error={saving.error} onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack gap="sm">
          <Textarea
            {...form.getInputProps('sessions')}
            {...fields}
            label="People act in the console from"
            description="Empty: from everywhere. Your own address must be in it"
          />
          <Textarea
            {...form.getInputProps('keys')}
            {...fields}
            label="API keys and connected apps act from"
            description="Empty: from everywhere"
          />
          {saving.isError && <ErrorAlert title="The networks were not saved" error={saving.error} />}
          {isOwner && (
            <Group>
              <Button type="submit" variant="default" disabled={!form.isDirty()} loading={saving.isPending}>
                Save networks
              </Button>
            </Group>
          )}
        </Stack>
      </Form>
    </Card>
  );
}

const textOf = (networks: readonly string[] | null): string => (networks ?? []).join('\n');

function listOf(text: string): string[] | null {
  const networks = text.split(/[\s,]+/).filter((line) => line !== '');
  return networks.length === 0 ? null : networks;
}
