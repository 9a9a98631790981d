import { Button, Checkbox, Group, SegmentedControl, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { ApiKey, NewApiKey } from '#console/api/organization.ts';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { named } from '#console/components/text/name.tsx';
import { RIGHTS } from '#console/components/text/role_note.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

type Permission = NonNullable<ApiKey['permissions']>[number];

interface KeyFields {
  name: string;
  kind: ApiKey['kind'];
  /** Scope of its permissions: everything, what a build job needs, or what is chosen. */
  scope: 'all' | 'build' | 'some';
  permissions: Permission[];
  expiresAt: string;
}

const SCOPES: Readonly<Record<KeyFields['scope'], string>> = {
  all: 'It has all permissions of the account it acts as.',
  build: 'It finds its service, records releases and uploads source maps.',
  some: 'It has the permissions that you choose.',
};

const LABELS: Readonly<Record<keyof KeyFields, string>> = {
  name: 'Name',
  kind: 'Acts as',
  scope: 'May do',
  permissions: 'Permissions',
  expiresAt: 'Last day',
};

interface CreateApiKeyProps {
  readonly buildPermissions: readonly Permission[];
  readonly onClose: () => void;
}

export function CreateApiKey({ buildPermissions, onClose }: CreateApiKeyProps) {
  const { org, isAdmin } = useOrganization();
  const refresh = useRefresh();
  const { form, draft } = useDraftForm<KeyFields>({
    form: 'create_api_key',
    base: { name: '', kind: 'user', scope: 'all', permissions: [], expiresAt: '' },
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name' : null),
      permissions: (permissions, { scope }) =>
        scope === 'some' && permissions.length === 0 ? 'Choose at least one permission' : null,
      expiresAt: (day) => (day !== '' && endOfDay(day) <= new Date() ? 'Choose a day in the future' : null),
    },
  });
  const forBuilds = buildPermissions.filter((permission) => org.permissions.includes(permission));
  const creating = useMutation({
    mutationFn: ({ name, kind, scope, permissions, expiresAt }: KeyFields) =>
      invoke(org.orgId, 'create_api_key', {
        name: name.trim(),
        kind,
        permissions: { all: null, build: forBuilds, some: permissions }[scope],
        expiresAt: expiresAt === '' ? null : endOfDay(expiresAt).toISOString(),
      }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    onSuccess() {
      draft.done();
      return refresh('settings');
    },
  });
  if (creating.isSuccess) return <Created apiKey={creating.data} onClose={onClose} />;
  const { scope } = form.values;
  return (
    <FormDialog
      onClose={onClose}
      title="Create an API key"
      isWide
      saving={creating}
      failure="No key was created"
      atFields={form.values}
      draft={draft}
      labels={LABELS}
      submit="Create"
      onSubmit={form.onSubmit((values) => creating.mutate(values))}
    >
      <TextInput {...form.getInputProps('name')} label="Name" placeholder="What it is for" data-autofocus />
      {isAdmin && (
        <div>
          <Text size="sm" fw={500} mb={4} id="key-kind">
            Acts as
          </Text>
          <SegmentedControl
            {...form.getInputProps('kind')}
            aria-labelledby="key-kind"
            data={[
              { value: 'user', label: 'You' },
              { value: 'organization', label: 'The organization' },
            ]}
          />
          <Text size="sm" c="dimmed" mt={4}>
            {form.values.kind === 'user'
              ? 'It acts with your current role and stops working when you leave.'
              : 'It keeps working when people leave.'}
          </Text>
        </div>
      )}
      <div>
        <Text size="sm" fw={500} mb={4} id="key-scope">
          May do
        </Text>
        <SegmentedControl
          aria-labelledby="key-scope"
          value={scope}
          onChange={(next) => {
            form.setFieldValue('scope', next);
            // A job that builds goes on when the person who made its key leaves.
            if (next === 'build' && isAdmin) form.setFieldValue('kind', 'organization');
          }}
          data={[
            { value: 'all', label: 'Everything' },
            { value: 'build', label: 'A build job' },
            { value: 'some', label: 'Some things' },
          ]}
        />
        <Text size="sm" c="dimmed" mt={4}>
          {SCOPES[scope]}
        </Text>
      </div>
      {scope === 'some' && (
        <Checkbox.Group {...form.getInputProps('permissions')} label="Permissions">
          <SimpleGrid cols={1} spacing="xs" mt={6}>
            {org.permissions.map((permission) => (
              <Checkbox
                key={permission}
                value={permission}
                label={RIGHTS.find(([right]) => right === permission)?.[1] ?? permission}
                description={permission}
                aria-invalid={form.errors['permissions'] === undefined ? undefined : true}
              />
            ))}
          </SimpleGrid>
        </Checkbox.Group>
      )}
      <TimeField
        {...form.getInputProps('expiresAt')}
        value={form.values.expiresAt}
        onChange={(day) => form.setFieldValue('expiresAt', day)}
        kind="date"
        label="Last day"
        description="Leave empty for a key that works until it is revoked."
        maw={220}
      />
    </FormDialog>
  );
}

/** Secret of the new key, which cannot be shown again. */
function Created({ apiKey: { name, secret }, onClose }: { readonly apiKey: NewApiKey; readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title={named`${name} is created`} isShownOnce>
      <Stack>
        <Text size="sm">Copy the key now. Tocsin stores only its hash and cannot show it again.</Text>
        <CopyField label="API key" value={secret} isShownOnce />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have copied it</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** Returns the end of the day in the viewer's time zone. */
function endOfDay(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + 1);
}
