import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { Channel, Contact, Me } from '#console/api/organization.ts';
import { topicKey } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { CHANNEL_TITLES, CHANNELS } from '#console/components/channel.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name, named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const SWITCHES = {
  sms: 'smsEnabled',
  call: 'callEnabled',
  push: 'pushEnabled',
  email: 'emailEnabled',
} as const satisfies Record<Channel, keyof Contact>;

const E164 = /^\+[1-9]\d{6,14}$/;

/** The person's own number and channels in a team. */
export function ContactCard({ team: { teamId, name, contact } }: { readonly team: Me['teams'][number] }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const { phone, smsEnabled, callEnabled, pushEnabled, emailEnabled } = contact;
  const form = useForm({
    initialValues: { phone: phone ?? '', smsEnabled, callEnabled, pushEnabled, emailEnabled },
    transformValues: (values) => ({ ...values, phone: withoutSeparators(values.phone) || null }),
    validate: {
      phone: (text) =>
        withoutSeparators(text) === '' || E164.test(withoutSeparators(text))
          ? null
          : 'Include the country code, such as +31612345678',
    },
  });
  const saving = useMutation({
    mutationFn: (body: Contact) => invoke(orgId, 'update_own_contact', { teamId, ...body }),
    async onSuccess() {
      showSuccess(named`Your contact details in ${name} are saved.`);
      form.resetDirty();
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') });
    },
  });
  return (
    <Card title={<Name>{name}</Name>} about="How the escalation policies of this team may reach you.">
      <form onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack>
          <TextInput
            {...form.getInputProps('phone')}
            label="Phone"
            description="For SMS and calls"
            placeholder="+31612345678"
            type="tel"
            autoComplete="tel"
            maw={320}
          />
          <Group gap="lg">
            {CHANNELS.map((channel) => (
              <Switch
                key={channel}
                {...form.getInputProps(SWITCHES[channel], { type: 'checkbox' })}
                label={CHANNEL_TITLES[channel]}
              />
            ))}
          </Group>
          {saving.isError && <ErrorAlert title="Your contact details were not saved" error={saving.error} />}
          <Group>
            <Button type="submit" loading={saving.isPending} disabled={!form.isDirty()}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  );
}

function withoutSeparators(phone: string): string {
  return phone.replaceAll(/[\s().-]/g, '');
}
