import { Checkbox, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { invoke } from '#console/api/actions.ts';
import { newWidgetId } from '#console/api/dashboards.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { nameFault } from '#console/pages/dashboards/rename_dashboard.tsx';
import type { DashboardStart } from '#console/pages/dashboards/dashboard_start.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { templateOf } from '#modules/dashboards/decide/template.ts';
import { toLayout } from '#modules/dashboards/decide/widget.ts';

const METRICS = 50;

interface Created {
  readonly name: string;
  readonly serviceId: string | null;
  readonly isFilled: boolean;
}

export function CreateDashboard({ start, onClose }: { readonly start: DashboardStart; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { form, draft } = useDraftForm<Created>({
    form: `create_dashboard ${start.serviceId ?? ''}`.trim(),
    base: { ...start, isFilled: true },
    validate: { name: nameFault },
  });
  const creating = useMutation({
    async mutationFn({ name, serviceId, isFilled }: Created) {
      const wanted = name.trim();
      if (serviceId === null) return await invoke(orgId, 'create_dashboard', { name: wanted });
      const metrics = isFilled
        ? (await invoke(orgId, 'describe_metrics', { serviceId, limit: METRICS })).metrics
        : null;
      const layout = metrics === null ? [] : toLayout(templateOf(metrics, newWidgetId));
      return await invoke(orgId, 'create_dashboard', { name: wanted, serviceId, layout });
    },
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess({ dashboardId }) {
      draft.done();
      await refresh('dashboards');
      await navigate({ to: '/dashboards/$dashboardId', params: { dashboardId } });
    },
  });
  const { serviceId } = form.values;
  return (
    <FormDialog
      title="Create a dashboard"
      onClose={onClose}
      saving={creating}
      failure="The dashboard was not created"
      atFields={form.values}
      draft={draft}
      labels={{ name: 'Name', serviceId: 'Service', isFilled: 'Start with charts of what it sends' }}
      submit="Create"
      onSubmit={form.onSubmit((values) => creating.mutate(values))}
    >
      <TextInput {...form.getInputProps('name')} label="Name" maxLength={500} data-autofocus />
      <div>
        <Text size="sm" fw={560} mb={4}>
          Service
        </Text>
        <ServicePicker
          value={serviceId ?? undefined}
          onChange={(chosen) => form.setFieldValue('serviceId', chosen ?? null)}
          error={form.errors['serviceId']}
        />
        <Text size="xs" c="dimmed" mt={4}>
          Widgets then need not name it, and the dashboard is deleted with it. Without one, the dashboard is for the
          whole organization.
        </Text>
      </div>
      {serviceId !== null && (
        <Checkbox
          label="Start with charts of what this service sends"
          description="Charts of its most telling metrics, its incidents, and who is on call."
          {...form.getInputProps('isFilled', { type: 'checkbox' })}
        />
      )}
    </FormDialog>
  );
}
