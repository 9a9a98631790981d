import { Anchor, Button, Group, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke } from '#console/api/actions.ts';
import { type ExceptionOverview, refreshExceptions } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { Name } from '#console/components/text/name.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { ISSUE_URL_LENGTH_MAX } from '#modules/exceptions/decide/issue_link.ts';

interface IssueCardProps {
  readonly overview: ExceptionOverview;
  readonly mayEdit: boolean;
}

/** Card of the issue of an exception in a tracker: a form for a new one, filled in, and the address of a known one. */
export function IssueCard({ overview: { groupId, issueUrl, newIssueUrl }, mayEdit }: IssueCardProps) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [values, setValues, draft] = useDraftState({ form: `set_exception_issue ${groupId}`, base: { url: '' } });
  const [fault, setFault] = useState<string | null>(null);
  const saving = useMutation({
    mutationFn: (url: string | null) => invoke(orgId, 'set_exception_issue', { groupId, url }),
    onSuccess() {
      draft.done();
      setValues({ url: '' });
    },
    onSettled: () => refreshExceptions(queryClient, orgId, [groupId]),
  });
  if (issueUrl === null && !mayEdit) return null;
  return (
    <Card
      title="Issue"
      action={
        issueUrl === null &&
        newIssueUrl !== null && (
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => <a {...props} href={newIssueUrl} target="_blank" rel="noopener noreferrer" />}
          >
            New issue
          </Button>
        )
      }
    >
      {issueUrl !== null && (
        <Group justify="space-between" wrap="nowrap">
          <Anchor href={issueUrl} target="_blank" rel="noopener noreferrer" size="sm">
            <Name>{issueUrl}</Name>
          </Anchor>
          {mayEdit && (
            <Button size="xs" variant="default" loading={saving.isPending} onClick={() => saving.mutate(null)}>
              Unlink
            </Button>
          )}
        </Group>
      )}
      {issueUrl === null && (
        <Form
          error={saving.error}
          onSubmit={(event) => {
            event.preventDefault();
            const url = values.url.trim();
            const missing = /^https?:\/\/[^\s/]+/.test(url) ? null : 'Write the address of the issue: https://…';
            setFault(missing);
            if (missing === null && !saving.isPending && draft.conflicts.length === 0) saving.mutate(url);
          }}
        >
          <Stack gap="xs">
            <DraftNotice draft={draft} labels={{ url: 'Address' }} />
            <Group gap="xs" align="flex-start" wrap="nowrap">
              <TextInput
                aria-label="Address of the issue"
                placeholder="https://tracker.example.com/SHOP-42"
                style={{ flex: 1 }}
                maxLength={ISSUE_URL_LENGTH_MAX}
                value={values.url}
                onChange={(event) => {
                  setFault(null);
                  setValues({ url: event.currentTarget.value });
                }}
                error={fault ?? faultsAtFields(saving.error, values)['url']}
              />
              <Button type="submit" variant="default" loading={saving.isPending}>
                Link
              </Button>
            </Group>
            {saving.isError && <ErrorAlert title="The issue was not linked" error={saving.error} atFields={values} />}
          </Stack>
        </Form>
      )}
    </Card>
  );
}
