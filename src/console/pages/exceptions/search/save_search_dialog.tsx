import { Button, Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke } from '#console/api/actions.ts';
import { Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { Name, named } from '#console/components/text/name.tsx';
import type { ExceptionFilter } from '#console/pages/exceptions/exception_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface SaveSearchDialogProps {
  readonly filter: ExceptionFilter;
  readonly onClose: () => void;
}

const LABELS = { name: 'Name', isShared: 'Everybody sees it' };

/** Dialog that saves the filter of the list under a name, and deletes what was saved. */
export function SaveSearchDialog({ filter, onClose }: SaveSearchDialogProps) {
  const { org, may } = useOrganization();
  const { orgId } = org;
  const queryClient = useQueryClient();
  const listed = actionQuery(orgId, 'exceptions', 'list_saved_searches', {});
  const { data } = useQuery(listed);
  const [values, setValues, draft] = useDraftState({ form: 'save_search', base: { name: '', isShared: false } });
  const [fault, setFault] = useState<string | null>(null);
  const refresh = (): Promise<void> => queryClient.invalidateQueries({ queryKey: listed.queryKey });
  const saving = useMutation({
    mutationFn: () => invoke(orgId, 'save_search', { ...values, filter: { ...filter } }),
    onSuccess({ name }) {
      draft.done();
      showSuccess(`Saved as ${name}.`);
      onClose();
    },
    onSettled: refresh,
  });
  const [deleted, setDeleted] = useState<{ readonly searchId: string; readonly name: string } | null>(null);
  const deleting = useMutation({
    mutationFn: (searchId: string) => invoke(orgId, 'delete_saved_search', { searchId }),
    onSuccess: () => setDeleted(null),
    onSettled: refresh,
  });
  const mine = (data?.searches ?? []).filter(({ isOwn, ownerName }) => isOwn || ownerName === null);
  return (
    <Dialog title="Saved searches" onClose={onClose}>
      <Form
        error={saving.error}
        draft={draft}
        onSubmit={() => {
          const missing = values.name.trim() === '' ? 'Name the search.' : null;
          setFault(missing);
          if (missing === null && !saving.isPending && draft.conflicts.length === 0) saving.mutate();
        }}
      >
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          <TextInput
            label="Save the search of the list as"
            placeholder="Checkout, mine"
            maxLength={200}
            value={values.name}
            onChange={(event) => {
              setFault(null);
              setValues({ ...values, name: event.currentTarget.value });
            }}
            error={fault ?? faultsAtFields(saving.error, values)['name']}
            data-autofocus
          />
          {may('exceptions:edit') && (
            <Checkbox
              label={LABELS.isShared}
              checked={values.isShared}
              onChange={(event) => setValues({ ...values, isShared: event.currentTarget.checked })}
            />
          )}
          {saving.isError && <ErrorAlert title="Nothing was saved" error={saving.error} atFields={values} />}
          <SubmitButtons label="Save" isPending={saving.isPending} onCancel={onClose} />
          {mine.length > 0 && (
            <div>
              <Text size="sm" fw={560}>
                Your searches
              </Text>
              <ul style={{ margin: 0, padding: 0, listStyle: 'none' }}>
                {mine.map(({ searchId, name, isShared }) => (
                  <Row
                    key={searchId}
                    title={<Name>{name}</Name>}
                    sub={isShared ? 'everybody sees it' : 'only you see it'}
                  >
                    <Button
                      size="xs"
                      variant="default"
                      onClick={() => {
                        deleting.reset();
                        setDeleted({ searchId, name });
                      }}
                      aria-label={`Delete ${name}`}
                    >
                      Delete
                    </Button>
                  </Row>
                ))}
              </ul>
            </div>
          )}
        </Stack>
      </Form>
      {deleted !== null && (
        <Confirm
          title={named`Delete ${deleted.name}?`}
          button="Delete"
          saving={deleting}
          onClose={() => setDeleted(null)}
          onConfirm={() => deleting.mutate(deleted.searchId)}
        >
          Nobody can choose this search any more. This cannot be undone.
        </Confirm>
      )}
    </Dialog>
  );
}
