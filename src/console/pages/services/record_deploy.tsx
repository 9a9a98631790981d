import { TextInput } from '@mantine/core';

import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';

interface RecordDeployProps {
  readonly serviceId: string;
  /** Release that is most likely meant. */
  readonly newest: string;
  readonly onClose: () => void;
}

/** Dialog to record a deploy that no build reports. */
export function RecordDeploy({ serviceId, newest, onClose }: RecordDeployProps) {
  const { form, draft } = useDraftForm({
    form: `record_deploy ${serviceId}`,
    base: { release: newest, environment: 'production' },
    validate: {
      release: (text) => (text.trim() === '' ? 'Name the release.' : null),
      environment: (text) => (text.trim() === '' ? 'Name the environment.' : null),
    },
  });
  const recording = useServiceChange('record_deploy', () => {
    draft.done();
    onClose();
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Record a deploy"
      saving={recording}
      failure="The deploy was not recorded"
      atFields={form.values}
      draft={draft}
      labels={{ release: 'Release', environment: 'Environment' }}
      submit="Record"
      onSubmit={form.onSubmit((values) =>
        recording.mutate(
          { serviceId, release: values.release.trim(), environment: values.environment.trim() },
          { onError: (error) => form.setErrors(faultsAtFields(error, values)) },
        ),
      )}
    >
      <TextInput label="Release" maxLength={200} required {...form.getInputProps('release')} />
      <TextInput
        label="Environment"
        description="The deploy is marked now, in charts and in incidents of this service."
        maxLength={64}
        required
        {...form.getInputProps('environment')}
      />
    </FormDialog>
  );
}
