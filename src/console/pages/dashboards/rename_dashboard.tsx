import { TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { saveDashboard } from '#console/pages/dashboards/save_dashboard.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

interface RenameDashboardProps {
  readonly dashboardId: string;
  readonly name: string;
  /** Time when the list read the dashboard. */
  readonly updatedAt: string;
  readonly onClose: () => void;
}

/** Dialog that renames a dashboard. After a rename by somebody else, it shows both names. Other changes are kept. */
export function RenameDashboard({ dashboardId, name, updatedAt, onClose }: RenameDashboardProps) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const [saved, setSaved] = useState({ name, updatedAt });
  const current = saved.updatedAt < updatedAt ? { name, updatedAt } : saved;
  const { form, draft } = useDraftForm({
    form: `rename_dashboard ${dashboardId}`,
    base: { name: current.name },
    validate: { name: nameFault },
  });
  const renaming = useMutation({
    async mutationFn(typed: string) {
      let seen = current;
      for (let tries = 0; tries < RENAME_TRIES; tries += 1) {
        const input = { dashboardId, readAt: seen.updatedAt, name: typed };
        const { isSaved, dashboard } = await saveDashboard(orgId, input);
        if (isSaved) return true;
        const isRenamed = dashboard.name !== seen.name;
        seen = { name: dashboard.name, updatedAt: dashboard.updatedAt };
        setSaved(seen);
        if (isRenamed) return false;
      }
      throw new Error('Somebody else is changing this dashboard. Try again in a moment.');
    },
    onError: (error) => form.setErrors(faultsAtFields(error, form.values)),
    async onSuccess(isSaved) {
      if (!isSaved) return;
      draft.done();
      await refresh('dashboards');
      onClose();
    },
  });
  return (
    <FormDialog
      title="Rename the dashboard"
      onClose={onClose}
      saving={renaming}
      failure="The dashboard was not renamed"
      atFields={form.values}
      draft={draft}
      labels={{ name: 'Name' }}
      submit="Rename"
      onSubmit={form.onSubmit(({ name: typed }) => renaming.mutate(typed.trim()))}
    >
      <TextInput {...form.getInputProps('name')} label="Name" maxLength={500} data-autofocus />
    </FormDialog>
  );
}

/** Attempts to save a name; an attempt fails only if somebody saves at the same moment. */
const RENAME_TRIES = 5;

export function nameFault(name: string): string | null {
  return name.trim() === '' ? 'Give the dashboard a name.' : null;
}
