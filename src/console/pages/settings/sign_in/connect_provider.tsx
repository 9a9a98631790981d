import { Button, Group, NativeSelect, PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';

import { type InputOf, invoke } from '#console/api/actions.ts';
import type { SignInSettings } from '#console/api/organization.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { ROLES } from '#kernel/permissions.ts';

type Input = InputOf<'set_openid_connection'>;
type Mapping = Input['roleMap'][number];

const NEW = {
  issuer: '',
  clientId: '',
  scope: 'openid email profile',
  isEnabled: true,
  isRequired: false,
  trustsSecondFactor: false,
  defaultRole: 'responder',
  roleClaim: '',
  roleMap: [] as Mapping[],
};

interface ConnectProviderProps {
  readonly connection: SignInSettings['connection'];
  readonly onClose: () => void;
}

/** Dialog that connects the provider, or changes the connection. The secret is entered and never shown again. */
export function ConnectProvider({ connection, onClose }: ConnectProviderProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { ...NEW, ...valuesOf(connection), clientSecret: '' },
    validate: {
      issuer: (issuer) => (/^https:\/\/\S+$/.test(issuer.trim()) ? null : 'Enter an address that begins with https://'),
      clientId: (clientId) => (clientId.trim() === '' ? 'Enter the client id' : null),
    },
  });
  const saving = useMutation({
    mutationFn: (values: typeof form.values) => invoke(org.orgId, 'set_openid_connection', inputOf(values)),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess() {
      showSuccess('The provider is connected.');
      onClose();
      await refresh('settings');
    },
  });
  const { roleMap, roleClaim } = form.values;
  return (
    <FormDialog
      onClose={onClose}
      title={connection === null ? 'Connect a provider' : 'Edit the provider'}
      isWide
      saving={saving}
      failure="The provider is not connected"
      atFields={form.values}
      submit="Save"
      onSubmit={form.onSubmit((values) => saving.mutate(values))}
    >
      <TextInput
        {...form.getInputProps('issuer')}
        label="Issuer"
        description="Exactly as the discovery document of the provider names it"
        placeholder="https://login.example.com"
        inputMode="url"
        autoCapitalize="none"
        spellCheck={false}
        data-autofocus
      />
      <TextInput {...form.getInputProps('clientId')} label="Client id" autoComplete="off" spellCheck={false} />
      <PasswordInput
        {...form.getInputProps('clientSecret')}
        label="Client secret"
        description={connection === null ? undefined : 'Empty: the present one stays'}
        autoComplete="off"
      />
      <TextInput {...form.getInputProps('scope')} label="Scope" spellCheck={false} />
      <NativeSelect
        {...form.getInputProps('defaultRole')}
        label="Role of new members"
        data={[
          ...ROLES.filter((role) => role !== 'owner').map((role) => ({ value: role, label: role })),
          { value: '', label: 'nobody new comes in' },
        ]}
      />
      <TextInput
        {...form.getInputProps('roleClaim')}
        label="Claim for roles"
        description="Such as groups. Empty: the provider says nothing about roles"
        spellCheck={false}
      />
      {roleClaim.trim() !== '' && (
        <Stack gap="xs">
          {roleMap.map((_mapping, index) => (
            // eslint-disable-next-line react/no-array-index-key -- a row has nothing else that stays the same
            <Group key={index} gap="xs" align="end" wrap="nowrap">
              <TextInput
                {...form.getInputProps(`roleMap.${index}.value`)}
                label={`Value ${index + 1}`}
                flex={1}
                spellCheck={false}
              />
              <NativeSelect {...form.getInputProps(`roleMap.${index}.role`)} label="Role" data={[...ROLES]} />
              <Button
                variant="subtle"
                color="red"
                aria-label={`Remove value ${index + 1}`}
                onClick={() => form.removeListItem('roleMap', index)}
              >
                Remove
              </Button>
            </Group>
          ))}
          <Group>
            <Button
              variant="default"
              size="xs"
              onClick={() => form.insertListItem('roleMap', { value: '', role: 'editor' } satisfies Mapping)}
            >
              Add a value
            </Button>
          </Group>
          {roleMap.some(({ role }) => role === 'owner') && (
            <Text size="sm" c="dimmed">
              The provider then makes owners, and lowers them, but never the last one.
            </Text>
          )}
        </Stack>
      )}
      <Switch {...form.getInputProps('isEnabled', { type: 'checkbox' })} label="People can sign in through it" />
      <Switch
        {...form.getInputProps('isRequired', { type: 'checkbox' })}
        label="Required of everybody but owners"
        description="Other sessions are refused from the next request on."
      />
      <Switch
        {...form.getInputProps('trustsSecondFactor', { type: 'checkbox' })}
        label="Trust the provider's second factor"
        description="Whoever showed one there is not asked again here."
      />
    </FormDialog>
  );
}

function valuesOf(connection: SignInSettings['connection']): Partial<typeof NEW> {
  if (connection === null) return {};
  const { people: _people, lastFault: _fault, lastFaultAt: _at, defaultRole, roleClaim, ...others } = connection;
  return { ...others, defaultRole: defaultRole ?? '', roleClaim: roleClaim ?? '' };
}

function inputOf({ clientSecret, ...values }: typeof NEW & { readonly clientSecret: string }): Input {
  const roleClaim = values.roleClaim.trim();
  return {
    ...values,
    issuer: values.issuer.trim(),
    clientId: values.clientId.trim(),
    scope: values.scope.trim(),
    defaultRole: values.defaultRole === '' ? null : (values.defaultRole as NonNullable<Input['defaultRole']>),
    roleClaim: roleClaim === '' ? null : roleClaim,
    roleMap: roleClaim === '' ? [] : values.roleMap,
    ...(clientSecret !== '' && { clientSecret }),
  };
}
