import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { newWidgetId } from '#console/api/dashboards.ts';
import { topicKey } from '#console/api/queries.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ServicePicker } from '#console/components/service_picker.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { templateOf } from '#core/dashboards/template.ts';
import { toLayout } from '#core/dashboards/widget.ts';

/** As many metrics as the template looks at. */
const METRICS = 50;

export function CreateDashboard({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [name, setName] = useState('');
  const [serviceId, setServiceId] = useState<string | undefined>();
  const [isFilled, setIsFilled] = useState(true);
  const [isSent, setIsSent] = useState(false);
  const creating = useMutation({
    async mutationFn() {
      const wanted = name.trim();
      if (serviceId === undefined) return await invoke(orgId, 'create_dashboard', { name: wanted });
      const metrics = isFilled
        ? (await invoke(orgId, 'describe_metrics', { serviceId, limit: METRICS })).metrics
        : null;
      const layout = metrics === null ? [] : toLayout(templateOf(metrics, newWidgetId));
      return await invoke(orgId, 'create_dashboard', { name: wanted, serviceId, layout });
    },
    async onSuccess({ dashboardId }) {
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'dashboards') });
      await navigate({ to: '/dashboards/$dashboardId', params: { dashboardId } });
    },
  });
  return (
    <Dialog title="Create a dashboard" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          setIsSent(true);
          if (name.trim() !== '') creating.mutate();
        }}
      >
        <Stack>
          <TextInput
            label="Name"
            value={name}
            maxLength={500}
            error={isSent && name.trim() === '' ? 'Give the dashboard a name.' : null}
            onChange={(event) => setName(event.currentTarget.value)}
            data-autofocus
          />
          <div>
            <Text size="sm" fw={560} mb={4}>
              Service
            </Text>
            <ServicePicker value={serviceId} onChange={setServiceId} />
            <Text size="xs" c="dimmed" mt={4}>
              Widgets then need not name it, and the dashboard is deleted with it. Without one, the dashboard is for the
              whole organization.
            </Text>
          </div>
          {serviceId !== undefined && (
            <Checkbox
              label="Begin with what this service sends"
              description="Charts of its most telling metrics, its incidents, and who is on call."
              checked={isFilled}
              onChange={(event) => setIsFilled(event.currentTarget.checked)}
            />
          )}
          {creating.isError && <ErrorAlert title="The dashboard was not created" error={creating.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={creating.isPending}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
