import { Checkbox, Group, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import { type Capability, invoke } from '#console/api/actions.ts';
import { CAPABILITY_DESCRIPTIONS, CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { showError } from '#console/components/notice.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import {
  SERVICE_LABELS,
  SERVICE_VALIDATION,
  type ServiceFacts,
  ServiceFields,
} from '#console/pages/services/service_fields.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';

/** Capability that could not be enabled, and why. */
interface FailedCapability {
  readonly capability: Capability;
  readonly error: unknown;
}

interface NewService extends ServiceFacts {
  teamId: string | null;
  capabilities: readonly Capability[];
}

export function CreateService({ onClose }: { readonly onClose: () => void }) {
  const { orgId, showsPrices } = useOrganization().org;
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { form, draft } = useDraftForm<NewService>({
    form: 'create_service',
    base: { name: '', environment: '', scmOwner: '', scmRepo: '', teamId: null, capabilities: CAPABILITIES },
    validate: SERVICE_VALIDATION,
  });
  const { capabilities: wanted } = form.values;
  const creating = useMutation({
    async mutationFn({ name, capabilities, teamId, ...others }: NewService) {
      const fields = Object.fromEntries(Object.entries(others).filter(([, text]) => text.trim() !== ''));
      const { serviceId } = await invoke(orgId, 'create_service', { name: name.trim(), ...fields });
      const failed: FailedCapability[] = [];
      if (teamId !== null) {
        await invoke(orgId, 'set_service_team', { serviceId, teamId }).catch((error: unknown) => {
          showError(`${name.trim()} was created, but its team could not be set: choose it under Edit`, error);
        });
      }
      for (const capability of capabilities) {
        await invoke(orgId, 'enable_capability', { serviceId, capability }).catch((error: unknown) => {
          failed.push({ capability, error });
        });
      }
      return { serviceId, failed };
    },
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess({ serviceId, failed }, { name }) {
      draft.done();
      // The service exists: trying again would create a second one.
      const [first] = failed;
      if (first !== undefined) {
        const names = failed.map(({ capability }) => CAPABILITY_NAMES[capability]).join(' and ');
        showError(
          `${name.trim()} was created, but ${names} could not be enabled: enable it in the settings`,
          first.error,
        );
      }
      await refresh('services');
      await navigate({ to: '/services/$serviceId', params: { serviceId } });
    },
  });
  return (
    <Dialog onClose={onClose} title="Create a service">
      <Form error={creating.error} draft={draft} onSubmit={form.onSubmit((values) => creating.mutate(values))}>
        <Stack>
          <DraftNotice draft={draft} labels={{ ...SERVICE_LABELS, teamId: 'Team', capabilities: 'Enable' }} />
          <ServiceFields propsOf={(field) => form.getInputProps(field)} />
          <TeamPicker
            label="Team"
            placeholder="No team owns it"
            value={form.values.teamId}
            onChange={(chosen) => form.setFieldValue('teamId', chosen)}
            error={form.errors['teamId']}
          />
          <Checkbox.Group
            label="Enable"
            value={[...wanted]}
            onChange={(values) => form.setFieldValue('capabilities', values)}
          >
            <Stack gap="xs" mt={6}>
              {CAPABILITIES.map((capability) => (
                <Checkbox
                  key={capability}
                  value={capability}
                  label={
                    showsPrices
                      ? `${CAPABILITY_NAMES[capability]}, ${euroText(PRICE_EUR)} a month`
                      : CAPABILITY_NAMES[capability]
                  }
                  description={CAPABILITY_DESCRIPTIONS[capability]}
                />
              ))}
            </Stack>
          </Checkbox.Group>
          {creating.isError && (
            <ErrorAlert title="The service was not created" error={creating.error} atFields={form.values} />
          )}
          <Group justify="space-between">
            <Text size="sm" c="dimmed" className="numbers">
              {showsPrices && `${euroText(wanted.length * PRICE_EUR)} a month`}
            </Text>
            <SubmitButtons label="Create" isPending={creating.isPending} onCancel={onClose} />
          </Group>
        </Stack>
      </Form>
    </Dialog>
  );
}
