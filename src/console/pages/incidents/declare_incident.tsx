import { Button, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { DECLARED_TITLE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { invoke } from '#console/api/actions.ts';
import { refreshIncidents } from '#console/api/incidents.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CancelButton, faultsAtFields, Form, newRequestKey } from '#console/components/forms/form.tsx';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { SEVERITIES } from '#console/pages/incidents/incident_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { Level } from '#modules/exceptions/decide/level.ts';

const EMPTY: Declared = { serviceId: '', title: '', severity: 'error', escalationPolicyId: '' };
const NOBODY = 'nobody';

interface Declared {
  readonly serviceId: string;
  readonly title: string;
  readonly severity: Level;
  /** Id of the policy; empty until it is chosen. */
  readonly escalationPolicyId: string;
}

const LABELS = {
  serviceId: 'Service',
  title: 'What is wrong',
  severity: 'Severity',
  escalationPolicyId: 'Who is paged',
} as const;

/** Dialog that opens an incident by hand, which pages like any other. */
export function DeclareIncident({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [requestKey] = useState(newRequestKey);
  const { form, draft } = useDraftForm<Declared>({
    form: 'declare_incident',
    base: EMPTY,
    validate: {
      serviceId: (value) => (value === '' ? 'Choose the service that it is about' : null),
      title: (value) =>
        value.trim() === ''
          ? 'Say what is wrong, in a sentence'
          : value.length > DECLARED_TITLE_LENGTH_MAX
            ? `At most ${DECLARED_TITLE_LENGTH_MAX} characters; this has ${value.length}`
            : null,
      escalationPolicyId: (value) => (value === '' ? 'Choose who is paged, or nobody' : null),
    },
  });
  const declaring = useMutation({
    mutationFn: ({ serviceId, title, severity, escalationPolicyId }: Declared) =>
      invoke(orgId, 'declare_incident', {
        serviceId,
        title: title.trim(),
        severity,
        escalationPolicyId: escalationPolicyId === NOBODY ? null : escalationPolicyId,
        requestKey,
      }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess({ incidentId }) {
      draft.done();
      await refreshIncidents(queryClient, orgId, [incidentId]);
      await navigate({ to: '/incidents/$incidentId', params: { incidentId } });
    },
  });
  const { serviceId, escalationPolicyId } = form.values;
  return (
    <Dialog onClose={onClose} title="Declare an incident">
      <Form error={declaring.error} draft={draft} onSubmit={form.onSubmit((values) => declaring.mutate(values))}>
        <Stack>
          <DraftNotice
            draft={draft}
            labels={LABELS}
            show={(field, value) => (field.endsWith('Id') ? 'chosen' : String(value))}
          />
          <TextInput
            label={LABELS.title}
            placeholder="Customers cannot pay with cards"
            {...form.getInputProps('title')}
            data-autofocus
          />
          <ServicePicker
            label={LABELS.serviceId}
            placeholder="Choose a service"
            value={serviceId === '' ? undefined : serviceId}
            onChange={(chosen) => form.setFieldValue('serviceId', chosen ?? '')}
            error={form.errors['serviceId']}
          />
          <NativeSelect label={LABELS.severity} data={[...SEVERITIES]} {...form.getInputProps('severity')} />
          <PolicyPicker
            label={LABELS.escalationPolicyId}
            placeholder="Choose an escalation policy"
            before={[{ value: NOBODY, label: 'Nobody: only record it' }]}
            value={escalationPolicyId === '' ? null : escalationPolicyId}
            onChange={(chosen) => form.setFieldValue('escalationPolicyId', chosen ?? '')}
            error={form.errors['escalationPolicyId']}
          />
          {declaring.isError && (
            <ErrorAlert title="The incident was not declared" error={declaring.error} atFields={form.values} />
          )}
          <Group justify="flex-end">
            <CancelButton onCancel={onClose} />
            <Button type="submit" color="red" loading={declaring.isPending}>
              {escalationPolicyId === '' || escalationPolicyId === NOBODY ? 'Declare' : 'Declare and page'}
            </Button>
          </Group>
        </Stack>
      </Form>
    </Dialog>
  );
}
