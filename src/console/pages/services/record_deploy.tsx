import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';

import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';

interface RecordDeployProps {
  readonly serviceId: string;
  /** The release that is most likely meant. */
  readonly newest: string;
  readonly onClose: () => void;
}

/** For deploys that no build tells of. */
export function RecordDeploy({ serviceId, newest, onClose }: RecordDeployProps) {
  const form = useForm({
    initialValues: { release: newest, environment: 'production' },
    validate: {
      release: (text) => (text.trim() === '' ? 'Name the release.' : null),
      environment: (text) => (text.trim() === '' ? 'Name the environment.' : null),
    },
  });
  const recording = useServiceChange('record_deploy', onClose);
  return (
    <Dialog onClose={onClose} title="Record a deploy">
      <form
        onSubmit={form.onSubmit(({ release, environment }) =>
          recording.mutate({ serviceId, release: release.trim(), environment: environment.trim() }),
        )}
      >
        <Stack>
          <TextInput label="Release" maxLength={200} required {...form.getInputProps('release')} />
          <TextInput
            label="Environment"
            description="The deploy is marked now, in charts and in incidents of this service."
            maxLength={64}
            required
            {...form.getInputProps('environment')}
          />
          {recording.isError && <ErrorAlert title="The deploy was not recorded" error={recording.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={recording.isPending}>
              Record
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
