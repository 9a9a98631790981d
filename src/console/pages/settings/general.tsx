import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';

import { invoke } from '#console/api/actions.ts';
import { addressOf, isApiError } from '#console/api/http.ts';
import { sessionQuery } from '#console/api/session.ts';
import { Card } from '#console/components/card.tsx';
import { CopyId } from '#console/components/forms/copy_field.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { Page, useOpenedByAddress } from '#console/components/page.tsx';
import { named } from '#console/components/text/name.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { API_PATHS } from '#kernel/api_paths.ts';

/** Page of the organization itself: its name, and what takes all of it along. */
export function General() {
  const { org, isAdmin } = useOrganization();
  return (
    <Page title="General" lead={named`The name of ${org.name}, and all of its data to take along.`} isNarrow>
      {isAdmin ? (
        <>
          <OrganizationCard />
          {org.role === 'owner' && <ExportCard />}
        </>
      ) : (
        <AdminsOnly what="The name of the organization" />
      )}
    </Page>
  );
}

/** Card by which an owner takes all of the organization along. */
function ExportCard() {
  const { org } = useOrganization();
  const link = useRef<HTMLAnchorElement>(null);
  const card = useRef<HTMLDivElement>(null);
  useOpenedByAddress('export', () => card.current?.closest('section')?.scrollIntoView({ block: 'center' }));
  const exporting = useMutation({
    mutationFn: () => invoke(org.orgId, 'begin_organization_export', {}),
    onSuccess({ ticket }) {
      if (link.current === null) return;
      const actions = `${API_PATHS.console}/organizations/${org.orgId}/actions`;
      link.current.href = addressOf(`${actions}/export_organization?${new URLSearchParams({ ticket })}`);
      link.current.click();
      showSuccess('The download begins. It takes minutes where there is much data.');
    },
  });
  return (
    <Card
      anchor="export"
      title="Export the organization"
      about="All that the organization has, without passwords and keys: a ZIP archive of open files, which another installation imports. The audit log records each download."
    >
      <Stack gap="sm" align="start" ref={card}>
        <Button variant="default" loading={exporting.isPending} onClick={() => exporting.mutate()}>
          Download everything
        </Button>
        {/* Downloads; a refusal is a failed download, not another page. */}
        <a ref={link} download hidden>
          Export
        </a>
        {exporting.isError && <ErrorAlert title="The export was not begun" error={exporting.error} />}
      </Stack>
    </Card>
  );
}

/** Card of the name of the organization, which owners and admins may change. */
function OrganizationCard() {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const { form, draft } = useDraftForm({
    form: 'rename_organization',
    base: { name: org.name },
    validate: { name: (name) => (name.trim() === '' ? 'An organization needs a name' : null) },
  });
  const renaming = useMutation({
    mutationFn: ({ name }: typeof form.values) =>
      invoke(org.orgId, 'rename_organization', { name: name.trim(), basedOn: org.name }),
    onError: async (error, values) => {
      form.setErrors(faultsAtFields(error, values));
      // The form shows what the other person has saved beside the input.
      if (isApiError(error, 409)) await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
    async onSuccess() {
      showSuccess('The organization was renamed.');
      draft.done();
      await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  return (
    <Card title="Organization">
      <Form error={renaming.error} draft={draft} onSubmit={form.onSubmit((values) => renaming.mutate(values))}>
        <Stack gap="sm">
          <DraftNotice draft={draft} labels={{ name: 'Name' }} />
          <Group align="start">
            <TextInput {...form.getInputProps('name')} label="Name of the organization" flex={1} maw={360} />
            <Button
              type="submit"
              variant="default"
              mt={24}
              loading={renaming.isPending}
              disabled={!form.isDirty() || draft.conflicts.length > 0}
            >
              Rename
            </Button>
          </Group>
          <CopyId of="the organization" value={org.orgId} />
          {renaming.isError && (
            <ErrorAlert title="The organization was not renamed" error={renaming.error} atFields={form.values} />
          )}
        </Stack>
      </Form>
    </Card>
  );
}
