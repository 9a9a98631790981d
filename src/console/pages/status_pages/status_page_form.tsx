import { Checkbox, Stack, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';

import { type InputOf, invoke, type ResultOf } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { topicKey } from '#console/api/queries.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { Form } from '#console/components/forms/form.tsx';
import { SubmitButtons } from '#console/components/forms/submit_buttons.tsx';
import { useDraftForm } from '#console/components/forms/use_draft.ts';
import { named } from '#console/components/text/name.tsx';
import { GroupFields } from '#console/pages/status_pages/group_fields.tsx';
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
    <Dialog onClose={onClose} title={page === null ? 'Add a status page' : named`Change ${page.title}`} isWide>
      <Form error={saving.error} onSubmit={form.onSubmit((values) => saving.mutate(values))}>
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} show={(field, value) => shown(field, value)} />
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
          {saving.isError && <ErrorAlert title="The page was not saved" error={saving.error} atFields={form.values} />}
          <SubmitButtons
            label={page === null ? 'Add' : 'Save'}
            isPending={saving.isPending}
            isDisabled={draft.conflicts.length > 0}
            onCancel={onClose}
          />
        </Stack>
      </Form>
    </Dialog>
  );
}

function shown(field: keyof Values, value: unknown): string {
  if (field === 'isPublic') return value === true ? 'on' : 'off';
  if (field !== 'groups') return String(value);
  const groups = value as Values['groups'];
  return groups.flatMap(({ services }) => services.map(({ name }) => name)).join(', ');
}
