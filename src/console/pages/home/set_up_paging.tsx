import { Anchor, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { meQuery } from '#console/api/organization.ts';
import { euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { phoneFault, withoutSeparators } from '#console/components/forms/phone_number.ts';
import { named } from '#console/components/text/name.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';

interface SetUpPagingProps {
  /** Service that pages; null: a new one. */
  readonly serviceId: string | null;
  readonly onClose: () => void;
  readonly onDone?: (policyId: string) => void;
}

const LABELS = { serviceName: 'Service', teamName: 'Team', phone: 'Your phone' };

/** Form that creates everything a first page needs. */
export function SetUpPaging({ serviceId, onClose, onDone }: SetUpPagingProps) {
  const { orgId, showsPrices } = useOrganization().org;
  const queryClient = useQueryClient();
  const isNew = serviceId === null;
  const me = useQuery(meQuery(orgId)).data;
  const { form, draft } = useDraftForm({
    form: 'set_up_paging',
    base: { serviceName: '', teamName: 'On call', phone: '' },
    validate: {
      serviceName: (name) => (isNew && name.trim() === '' ? 'A service needs a name' : null),
      teamName: (name) => (name.trim() === '' ? 'A team needs a name' : null),
      phone: phoneFault,
    },
  });
  const settingUp = useMutation({
    mutationFn: ({ serviceName, teamName, phone }: typeof form.values) =>
      invoke(orgId, 'set_up_paging', {
        serviceId,
        serviceName: isNew ? serviceName.trim() : null,
        teamName: teamName.trim(),
        phone: withoutSeparators(phone) || null,
        timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess({ policyId }) {
      draft.done();
      await queryClient.invalidateQueries({ queryKey: ['org', orgId] });
      showSuccess('Paging is set up. Check now that a page arrives.');
      onDone?.(policyId);
      onClose();
    },
  });
  return (
    <Dialog onClose={onClose} title="Set up paging">
      <Form error={settingUp.error} draft={draft} onSubmit={form.onSubmit((values) => settingUp.mutate(values))}>
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          {isNew && (
            <TextInput
              {...form.getInputProps('serviceName')}
              label={LABELS.serviceName}
              description="A program that you run. It gets a key and a DSN to send its data with."
              placeholder="checkout"
              data-autofocus
            />
          )}
          {me?.own.phone == null ? (
            <TextInput
              {...form.getInputProps('phone')}
              label={LABELS.phone}
              description="For SMS and calls. You can leave it empty and add this device on the page Me."
              placeholder="+31612345678"
              type="tel"
              autoComplete="tel"
            />
          ) : (
            <Text size="sm">{named`SMS and calls reach you at ${me.own.phone}, the number that you have saved.`}</Text>
          )}
          <TextInput
            {...form.getInputProps('teamName')}
            label={LABELS.teamName}
            description="You are its first member, and on call in its schedule. Add others at any time."
          />
          <Text size="sm" c="dimmed">
            New exceptions of the service open incidents. They page you at once, and call you after five minutes while
            nobody has answered. You can change all of it.
            {isNew && showsPrices && ` The service costs ${euroText(CAPABILITIES.length * PRICE_EUR)} a month.`}
          </Text>
          <Text size="sm">
            Do several people take turns?{' '}
            <Anchor component={Link} to="/oncall/schedules/new" inherit underline="always">
              Make their schedule instead
            </Anchor>
          </Text>
          {settingUp.isError && (
            <ErrorAlert title="Nothing was set up" error={settingUp.error} atFields={form.values} />
          )}
          <SubmitButtons label="Set up" isPending={settingUp.isPending} onCancel={onClose} />
        </Stack>
      </Form>
    </Dialog>
  );
}
