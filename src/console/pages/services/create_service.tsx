import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { type Capability, invoke } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import { CAPABILITY_DESCRIPTIONS, CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/capability.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { showError } from '#console/components/notice.tsx';
import { SERVICE_VALIDATION, type ServiceFacts, ServiceFields } from '#console/pages/services/service_fields.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { CAPABILITIES } from '#core/capabilities/capability.ts';

/** A capability that could not be enabled, and why. */
interface FailedCapability {
  readonly capability: Capability;
  readonly error: unknown;
}

export function CreateService({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [wanted, setWanted] = useState<readonly Capability[]>(CAPABILITIES);
  const form = useForm<ServiceFacts>({
    mode: 'uncontrolled',
    initialValues: { name: '', environment: '', scmOwner: '', scmRepo: '' },
    validate: SERVICE_VALIDATION,
  });
  const creating = useMutation({
    async mutationFn({ name, ...others }: ServiceFacts) {
      const given = Object.fromEntries(Object.entries(others).filter(([, text]) => text.trim() !== ''));
      const { serviceId } = await invoke(orgId, 'create_service', { name: name.trim(), ...given });
      const failed: FailedCapability[] = [];
      for (const capability of wanted) {
        await invoke(orgId, 'enable_capability', { serviceId, capability }).catch((error: unknown) => {
          failed.push({ capability, error });
        });
      }
      return { serviceId, failed };
    },
    async onSuccess({ serviceId, failed }, { name }) {
      // The service exists: trying again would create a second one.
      const [first] = failed;
      if (first !== undefined) {
        const names = failed.map(({ capability }) => CAPABILITY_NAMES[capability]).join(' and ');
        showError(`${name.trim()} was created, but ${names} could not be enabled: enable it below`, first.error);
      }
      await queryClient.invalidateQueries({ queryKey: topicKey(orgId, 'services') });
      await navigate({ to: '/services/$serviceId', params: { serviceId } });
    },
  });
  return (
    <Dialog onClose={onClose} title="Create a service">
      <form onSubmit={form.onSubmit((values) => creating.mutate(values))}>
        <Stack>
          <ServiceFields form={form} />
          <Checkbox.Group label="Enable" value={[...wanted]} onChange={(values) => setWanted(values)}>
            <Stack gap="xs" mt={6}>
              {CAPABILITIES.map((capability) => (
                <Checkbox
                  key={capability}
                  value={capability}
                  label={`${CAPABILITY_NAMES[capability]}, ${euroText(PRICE_EUR)} a month`}
                  description={CAPABILITY_DESCRIPTIONS[capability]}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          {creating.isError && <ErrorAlert title="The service was not created" error={creating.error} />}
          <Group justify="space-between">
            <Text size="sm" c="dimmed" className="numbers">
              {euroText(wanted.length * PRICE_EUR)} a month
            </Text>
            <Group>
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button type="submit" loading={creating.isPending}>
                Create
              </Button>
            </Group>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
