import { Group, Stack, TextInput } from '@mantine/core';
import type { GetInputPropsReturnType } from '@mantine/form';

/** Editable fields of a service. An empty text means no value. */
export interface ServiceFacts {
  name: string;
  environment: string;
  scmOwner: string;
  scmRepo: string;
}

export const SERVICE_LABELS: Readonly<Record<keyof ServiceFacts, string>> = {
  name: 'Name',
  environment: 'Environment',
  scmOwner: 'Repository owner',
  scmRepo: 'Repository',
};

export const SERVICE_VALIDATION = { name: (name: string) => (name.trim() === '' ? 'A service needs a name' : null) };

interface ServiceFieldsProps {
  /** Returns the props of a field, as `form.getInputProps` does. */
  readonly propsOf: (field: keyof ServiceFacts) => GetInputPropsReturnType;
}

export function ServiceFields({ propsOf }: ServiceFieldsProps) {
  return (
    <Stack>
      <TextInput {...propsOf('name')} label={SERVICE_LABELS.name} placeholder="checkout" data-autofocus />
      <TextInput {...propsOf('environment')} label={SERVICE_LABELS.environment} placeholder="production" />
      <Group grow align="start">
        <TextInput {...propsOf('scmOwner')} label={SERVICE_LABELS.scmOwner} placeholder="acme" />
        <TextInput {...propsOf('scmRepo')} label={SERVICE_LABELS.scmRepo} placeholder="checkout" />
      </Group>
    </Stack>
  );
}
