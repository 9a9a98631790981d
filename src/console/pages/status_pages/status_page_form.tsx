import { Button, Checkbox, Group, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';

import { type InputOf, invoke, type ResultOf, topicKey } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { named } from '#console/components/text/name.tsx';
import { IconPlus } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { isSlug } from '#modules/status_pages/decide/publication.ts';

type StatusPage = ResultOf<'list_status_pages'>['statusPages'][number];

interface Values {
  readonly title: string;
  readonly slug: string;
  readonly about: string;
  readonly isPublic: boolean;
  readonly groups: InputOf<'create_status_page'>['groups'];
}

const LABELS = {
  title: 'Title',
  slug: 'Last part of the address',
  about: 'Text below the title',
  isPublic: 'Everybody may read it',
  groups: 'Services',
} as const;

interface StatusPageFormProps {
  /** Null for a new page. */
  readonly page: StatusPage | null;
  readonly onClose: () => void;
}

/** Dialog that adds a status page, or changes one. */
export function StatusPageForm({ page, onClose }: StatusPageFormProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
  const base = useMemo((): Values => {
    if (page === null) return { title: '', slug: '', about: '', isPublic: true, groups: [{ name: '', services: [] }] };
    const { title, slug, about, isPublic, groups } = page;
    return { title, slug, about: about ?? '', isPublic, groups };
  }, [page]);
  const { form, draft } = useDraftForm<Values>({
    form: `status_page ${page?.statusPageId ?? 'new'}`,
    base,
    validate: {
      title: (value) => (value.trim() === '' ? 'Enter what readers see at the top' : null),
      slug: (value) => (isSlug(value) ? null : 'Use 3 to 50 lower-case letters, digits and hyphens'),
      groups: (groups) =>
        groups.some(({ services }) => services.some(({ name }) => name.trim() === ''))
          ? 'Give each service a public name'
          : null,
    },
  });
  const saving = useMutation({
    async mutationFn({ title, slug, about, isPublic, groups }: Values) {
      const values = {
        title: title.trim(),
        slug,
        about: about.trim() === '' ? null : about.trim(),
        isPublic,
        groups: groups.map(({ name, services }) => ({
          name: name.trim(),
          services: services.map((service) => ({ ...service, name: service.name.trim() })),
        })),
      };
      return page === null
        ? await invoke(org.orgId, 'create_status_page', values)
        : await invoke(org.orgId, 'update_status_page', {
            statusPageId: page.statusPageId,
            version: page.version,
            ...values,
          });
    },
    async onSuccess() {
      draft.done();
      await refresh();
      onClose();
    },
    async onError(error, values) {
      form.setErrors(faultsAtFields(error, values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await refresh();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={page === null ? 'Add a status page' : named`Change ${page.title}`}
      isWide
      saving={saving}
      failure="The page was not saved"
      atFields={form.values}
      draft={draft}
      labels={LABELS}
      show={(field, value) => shown(field, value)}
      submit={page === null ? 'Add' : 'Save'}
      onSubmit={form.onSubmit((values) => saving.mutate(values))}
    >
      <TextInput label={LABELS.title} maxLength={100} {...form.getInputProps('title')} data-autofocus />
      <TextInput
        label={LABELS.slug}
        description="The address is /status/ and this; readers of an old address find nothing"
        maxLength={50}
        autoCapitalize="none"
        spellCheck={false}
        {...form.getInputProps('slug')}
      />
      <Textarea label={LABELS.about} autosize minRows={2} maxLength={1_000} {...form.getInputProps('about')} />
      <Checkbox
        label={LABELS.isPublic}
        description="Otherwise only members who are signed in"
        {...form.getInputProps('isPublic', { type: 'checkbox' })}
      />
      <GroupFields
        groups={form.values.groups}
        error={form.errors['groups']}
        onChange={(groups) => form.setFieldValue('groups', groups)}
      />
    </FormDialog>
  );
}

function shown(field: keyof Values, value: unknown): string {
  if (field === 'isPublic') return value === true ? 'on' : 'off';
  if (field !== 'groups') return String(value);
  const groups = value as Values['groups'];
  return groups.flatMap(({ services }) => services.map(({ name }) => name)).join(', ');
}

type Groups = InputOf<'create_status_page'>['groups'];
type Services = Groups[number]['services'];

interface GroupFieldsProps {
  readonly groups: Groups;
  readonly error: ReactNode;
  onChange(groups: Groups): void;
}

function GroupFields({ groups, error, onChange }: GroupFieldsProps) {
  const change = (index: number, changed: Partial<Groups[number]>): void =>
    onChange(groups.map((group, at) => (at === index ? { ...group, ...changed } : group)));
  return (
    <Stack gap="md">
      {groups.map(({ name, services }, index) => (
        <Stack gap="xs" key={index} component="fieldset" m={0} p={0} bd="none">
          <TextInput
            label={groups.length === 1 ? 'Heading above the services' : `Heading of group ${index + 1}`}
            placeholder="Services"
            maxLength={100}
            value={name}
            onChange={(event) => change(index, { name: event.currentTarget.value })}
          />
          <ServiceFields services={services} onChange={(changed) => change(index, { services: changed })} />
          {index > 0 && (
            <Group gap="xs">
              <Button variant="default" size="xs" onClick={() => onChange(moved(groups, index))}>
                Move the group up
              </Button>
              <Button
                variant="subtle"
                color="red"
                size="xs"
                onClick={() => onChange(groups.filter((_, at) => at !== index))}
              >
                Remove the group
              </Button>
            </Group>
          )}
        </Stack>
      ))}
      {error !== undefined && error !== null && (
        <Text size="sm" c="red" role="alert">
          {error}
        </Text>
      )}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...groups, { name: '', services: [] }])}
        >
          Add a group
        </Button>
      </Group>
    </Stack>
  );
}

function ServiceFields({ services, onChange }: { readonly services: Services; onChange(services: Services): void }) {
  const change = (index: number, changed: Partial<Services[number]>): void =>
    onChange(services.map((service, at) => (at === index ? { ...service, ...changed } : service)));
  return (
    <>
      {services.map(({ serviceId, name }, index) => (
        <Stack gap={4} key={index}>
          <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
            <ServicePicker
              label="Service"
              placeholder="Choose a service"
              value={serviceId === '' ? undefined : serviceId}
              onChange={(chosen) => change(index, { serviceId: chosen ?? '' })}
            />
            <TextInput
              label="Public name"
              required
              maxLength={100}
              value={name}
              onChange={(event) => change(index, { name: event.currentTarget.value })}
            />
          </SimpleGrid>
          <Group gap="xs">
            {index > 0 && (
              <Button variant="subtle" size="xs" onClick={() => onChange(moved(services, index))}>
                Move up
              </Button>
            )}
            <Button
              variant="subtle"
              size="xs"
              color="red"
              onClick={() => onChange(services.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
          </Group>
        </Stack>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => onChange([...services, { serviceId: '', name: '' }])}
        >
          Add a service
        </Button>
      </Group>
    </>
  );
}

/** Returns the list with an item moved before the one that was before it. */
function moved<Item>(items: readonly Item[], index: number): Item[] {
  const next = [...items];
  next.splice(index - 1, 0, ...next.splice(index, 1));
  return next;
}
