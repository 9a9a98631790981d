import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { Contact, Me } from '#console/api/organization.ts';
import { topicKey } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { SHOWN_CHANNELS } from '#console/components/channel.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name, named } from '#console/components/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { declarationOf } from '#core/oncall/channel.ts';

const E164 = /^\+[1-9]\d{6,14}$/;

/** The person's own number and channels in a team. */
export function ContactCard({ team: { teamId, name, contact } }: { readonly team: Me['teams'][number] }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const { phone, ...switches } = contact;
  const form = useForm({
    initialValues: { phone: phone ?? '', ...switches },
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
            {SHOWN_CHANNELS.map((channel) => {
              const { title, preference } = declarationOf(channel);
              if (preference === null) return null;
              return <Switch key={channel} {...form.getInputProps(preference, { type: 'checkbox' })} label={title} />;
            })}
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
