import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { SignInSettings } from '#console/api/organization.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Status } from '#console/components/status.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

export function DomainsCard({ settings: { domains } }: { readonly settings: SignInSettings }) {
  const { org } = useOrganization();
  const isOwner = org.role === 'owner';
  return (
    <Card title="Mail domains" about="Only people with an address in a proven domain come in through the provider.">
      <Stack>
        {domains.map((domain) => (
          <Domain key={domain.domain} domain={domain} isOwner={isOwner} />
        ))}
        {domains.length === 0 && (
          <Text size="sm" c="dimmed">
            No domain yet.
          </Text>
        )}
        {isOwner && <AddDomain />}
      </Stack>
    </Card>
  );
}

interface DomainProps {
  readonly domain: SignInSettings['domains'][number];
  readonly isOwner: boolean;
}

function Domain({ domain: { domain, provenBy, record }, isOwner }: DomainProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const proving = useMutation({
    mutationFn: () => invoke(org.orgId, 'prove_sign_in_domain', { domain }),
    async onSuccess() {
      showSuccess(named`${domain} is proven.`);
      await refresh('settings');
    },
  });
  const removing = useMutation({
    mutationFn: () => invoke(org.orgId, 'remove_sign_in_domain', { domain }),
    onSuccess: () => refresh('settings'),
  });
  const failed = proving.error ?? removing.error;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <Text size="sm" fw={560} flex={1}>
          <Name>{domain}</Name>
        </Text>
        <Status tone={provenBy === null ? 'amber' : 'green'}>
          {provenBy === null ? 'not proven' : provenBy === 'dns' ? 'proven by DNS' : 'vouched for by the operator'}
        </Status>
        {isOwner && provenBy === null && (
          <Button size="xs" variant="default" loading={proving.isPending} onClick={() => proving.mutate()}>
            Prove
          </Button>
        )}
        {isOwner && (
          <Button
            size="xs"
            variant="subtle"
            color="red"
            aria-label={`Remove ${domain}`}
            loading={removing.isPending}
            onClick={() => removing.mutate()}
          >
            Remove
          </Button>
        )}
      </Group>
      {isOwner && provenBy === null && (
        <>
          <CopyField label="Name of the TXT record" value={record.name} />
          <CopyField label="Its value" value={record.value} />
        </>
      )}
      {failed !== null && <ErrorAlert title="Nothing was changed" error={failed} />}
    </Stack>
  );
}

function AddDomain() {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { domain: '' },
    validate: { domain: (domain) => (domain.trim() === '' ? 'Enter a domain, such as example.com' : null) },
  });
  const adding = useMutation({
    mutationFn: ({ domain }: typeof form.values) => invoke(org.orgId, 'add_sign_in_domain', { domain: domain.trim() }),
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
    async onSuccess() {
      form.reset();
      await refresh('settings');
    },
  });
  return (
    <Form error={adding.error} onSubmit={form.onSubmit((values) => adding.mutate(values))}>
      <Group align="start">
        <TextInput
          {...form.getInputProps('domain')}
          label="Add a domain"
          placeholder="example.com"
          autoCapitalize="none"
          spellCheck={false}
          flex="1 1 12rem"
          maw={360}
        />
        <Button type="submit" variant="default" mt={24} loading={adding.isPending}>
          Add
        </Button>
      </Group>
      {adding.isError && <ErrorAlert title="The domain was not added" error={adding.error} atFields={form.values} />}
    </Form>
  );
}
