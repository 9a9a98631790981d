import { Group, Stack, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

/** The editable fields of a service. An empty text means no value. */
export interface ServiceFacts {
  name: string;
  environment: string;
  scmOwner: string;
  scmRepo: string;
}

export const SERVICE_VALIDATION = {
  name: (name: string) => (name.trim() === '' ? 'A service needs a name' : null),
};

export function ServiceFields({ form }: { readonly form: UseFormReturnType<ServiceFacts> }) {
  return (
    <Stack>
      <TextInput
        {...form.getInputProps('name')}
        key={form.key('name')}
        label="Name"
        placeholder="checkout"
        data-autofocus
      />
      <TextInput
        {...form.getInputProps('environment')}
        key={form.key('environment')}
        label="Environment"
        placeholder="production"
      />
      <Group grow align="start">
        <TextInput
          {...form.getInputProps('scmOwner')}
          key={form.key('scmOwner')}
          label="Repository owner"
          placeholder="acme"
        />
        <TextInput
          {...form.getInputProps('scmRepo')}
          key={form.key('scmRepo')}
          label="Repository"
          placeholder="checkout"
        />
      </Group>
    </Stack>
  );
}
