import { Button, Group, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { SERVICE_VALIDATION, type ServiceFacts, ServiceFields } from '#console/pages/services/service_fields.tsx';

interface EditServiceProps {
  readonly service: ServiceWithKeys;
  readonly onClose: () => void;
}

export function EditService({ service, onClose }: EditServiceProps) {
  const { serviceId, name, environment, scmOwner, scmRepo } = service;
  const form = useForm<ServiceFacts>({
    mode: 'uncontrolled',
    initialValues: { name, environment: environment ?? '', scmOwner: scmOwner ?? '', scmRepo: scmRepo ?? '' },
    validate: SERVICE_VALIDATION,
  });
  const changing = useServiceChange('update_service', onClose);
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  return (
    <Dialog onClose={onClose} title="Edit the service">
      <form
        onSubmit={form.onSubmit((values) =>
          changing.mutate({
            serviceId,
            name: values.name.trim(),
            environment: orNull(values.environment),
            scmOwner: orNull(values.scmOwner),
            scmRepo: orNull(values.scmRepo),
          }),
        )}
      >
        <Stack>
          <ServiceFields form={form} />
          {changing.isError && <ErrorAlert title="The service was not saved" error={changing.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={changing.isPending}>
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
