import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { actionQuery } from '#console/api/actions.ts';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useResolveInRelease } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface ResolveInReleaseProps {
  readonly groupIds: readonly string[];
  readonly serviceId: string | null;
  readonly onClose: (isDone: boolean) => void;
}

const OFFERED = 20;

/** Dialog that names the release with the fix, which may not exist yet. */
export function ResolveInRelease({ groupIds, serviceId, onClose }: ResolveInReleaseProps) {
  const { orgId } = useOrganization().org;
  const resolving = useResolveInRelease();
  const { form, draft } = useDraftForm({
    form: `resolve_in_release ${groupIds.toSorted().join(' ')}`,
    base: { release: '' },
    validate: { release: (text) => (text.trim() === '' ? 'Name the release.' : null) },
  });
  const search = useDebounced(form.values.release.trim());
  const { data } = useQuery({
    ...actionQuery(orgId, 'services', 'list_releases', { serviceId: serviceId ?? '', search, limit: OFFERED }),
    enabled: serviceId !== null,
    placeholderData: keepPreviousData,
  });
  // Options for an earlier text must not stay open over the buttons.
  const typed = form.values.release.trim().toLowerCase();
  const offered = data?.releases.map(({ release }) => release) ?? [];
  const fitting = offered.filter((release) => release.toLowerCase().includes(typed));
  return (
    <FormDialog
      onClose={() => onClose(false)}
      title={
        groupIds.length === 1 ? 'Fixed in a release' : `${countText(groupIds.length, 'exception')} fixed in a release`
      }
      saving={resolving}
      failure="Nothing was resolved"
      atFields={form.values}
      draft={draft}
      labels={{ release: 'First release with the fix' }}
      submit="Resolve"
      onSubmit={form.onSubmit(({ release }) =>
        resolving.mutate(
          { groupIds, release: release.trim() },
          {
            onSuccess() {
              draft.done();
              onClose(true);
            },
            onError: (error) => form.setErrors(faultsAtFields(error, form.values)),
          },
        ),
      )}
    >
      <Autocomplete
        listLabel="Releases"
        label="First release with the fix"
        description="Events of older releases leave it resolved. One of this release, or of a newer one, brings it back as a regression."
        placeholder="A known release, or a future one"
        suggestions={fitting}
        further={(data?.total ?? 0) - offered.length}
        isSearched
        maxLength={200}
        withAsterisk
        opensOnFocus={false}
        data-autofocus
        {...form.getInputProps('release')}
        value={form.values.release}
      />
    </FormDialog>
  );
}
