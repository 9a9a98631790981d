import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { Contact, Me } from '#console/api/organization.ts';
import { isApiError } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import { Card } from '#console/components/card.tsx';
import { SHOWN_CHANNELS } from '#console/components/text/channel.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Form } from '#console/components/forms/form.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { useDraftForm } from '#console/components/forms/use_draft.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { phoneFault, withoutSeparators } from '#console/components/forms/phone_number.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  CHANNEL_PREFERENCES,
  CHANNELS,
  type ChannelPreference,
  declarationOf,
} from '#modules/contacts/decide/channel.ts';
import { recordOf } from '#kernel/record_of.ts';

const LABELS: Readonly<Record<keyof Contact, string>> = {
  phone: 'Phone',
  ...recordOf(CHANNEL_PREFERENCES, (preference) => titleOf(preference)),
};

function titleOf(preference: ChannelPreference): string {
  const channel = CHANNELS.find((candidate) => declarationOf(candidate).preference === preference);
  return channel === undefined ? preference : declarationOf(channel).title;
}

interface ContactCardProps {
  /** Team of the contact; null for incidents of teams that the person is not in. */
  readonly team: Pick<Me['teams'][number], 'teamId' | 'name'> | null;
  readonly contact: Contact;
  /** Whether it is the only contact, for somebody who is in no team. */
  readonly isOnly?: boolean;
}

/** Card of the person's own number and channels, in a team or without one. */
export function ContactCard({ team, contact, isOnly = false }: ContactCardProps) {
  const teamId = team?.teamId ?? null;
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const { phone, ...switches } = contact;
  const { form, draft } = useDraftForm({
    form: `update_own_contact ${teamId ?? ''}`,
    base: { phone: phone ?? '', ...switches },
    validate: {
      phone: phoneFault,
    },
  });
  const saving = useMutation({
    mutationFn: (body: Contact) => invoke(orgId, 'update_own_contact', { teamId, ...body, basedOn: contact }),
    onError: async (error, entered) => {
      form.setErrors(faultsAtFields(error, entered));
      // The form shows what was saved elsewhere beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
    },
    async onSuccess() {
      showSuccess(
        team === null ? 'Your contact details are saved.' : named`Your contact details in ${team.name} are saved.`,
      );
      draft.done();
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'me') });
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'teams') });
    },
  });
  return (
    <Card
      title={team === null ? isOnly ? 'Your phone' : 'For other teams' : <Name>{team.name}</Name>}
      about={
        team === null
          ? 'How you are reached when a policy names you, or an override puts you on call, in a team that you are not in.'
          : 'How the escalation policies of this team may reach you.'
      }
    >
      <Form
        error={saving.error}
        onSubmit={form.onSubmit((values) =>
          saving.mutate({ ...values, phone: withoutSeparators(values.phone) || null }),
        )}
      >
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          <TextInput
            {...form.getInputProps('phone')}
            label="Phone"
            description="For SMS and calls"
            placeholder="+31612345678"
            type="tel"
            autoComplete="tel"
            maw={320}
          />
          <Group gap="0.5rem 1.25rem">
            {SHOWN_CHANNELS.map((channel) => {
              const { title, preference } = declarationOf(channel);
              if (preference === null) return null;
              return <Switch key={channel} {...form.getInputProps(preference, { type: 'checkbox' })} label={title} />;
            })}
          </Group>
          {saving.isError && (
            <ErrorAlert title="Your contact details were not saved" error={saving.error} atFields={form.values} />
          )}
          <Group>
            <Button type="submit" loading={saving.isPending} disabled={!form.isDirty() || draft.conflicts.length > 0}>
              Save
            </Button>
          </Group>
        </Stack>
      </Form>
    </Card>
  );
}
