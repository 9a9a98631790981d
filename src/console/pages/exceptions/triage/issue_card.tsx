import { Anchor, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke } from '#console/api/actions.ts';
import { type ExceptionOverview, refreshExceptions } from '#console/api/exceptions.ts';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { Status } from '#console/components/status.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { ISSUE_TITLE_LENGTH_MAX, issueTitleOf } from '#modules/exceptions/decide/issue_tracker.ts';
import { ISSUE_URL_LENGTH_MAX } from '#modules/exceptions/decide/issue_link.ts';

/** Card of the issue of an exception in a tracker: a form for a new one, filled in, and the address of a known one. */
export function IssueCard({ overview, mayEdit }: { readonly overview: ExceptionOverview; readonly mayEdit: boolean }) {
  const { groupId, issueUrl, issueNumber, newIssueUrl, tracker } = overview;
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [values, setValues, draft] = useDraftState({ form: `set_exception_issue ${groupId}`, base: { url: '' } });
  const [fault, setFault] = useState<string | null>(null);
  const [isCreating, setIsCreating] = useState(false);
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
      title="Issue in your tracker"
      action={
        issueUrl === null &&
        (tracker !== null ? (
          <Button size="xs" variant="default" onClick={() => setIsCreating(true)}>
            Create an issue
          </Button>
        ) : newIssueUrl === null ? null : (
          <Button
            size="xs"
            variant="default"
            renderRoot={(props) => <a {...props} href={newIssueUrl} target="_blank" rel="noopener noreferrer" />}
          >
            Create an issue
          </Button>
        ))
      }
    >
      {issueUrl !== null && (
        <Group justify="space-between" wrap="nowrap">
          <Anchor href={issueUrl} target="_blank" rel="noopener noreferrer" size="sm">
            <Name>{issueNumber === null ? issueUrl : issueNumber.replace(/^\d/, '#$&')}</Name>
          </Anchor>
          {issueNumber !== null && <IssueState overview={overview} />}
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
          draft={draft}
          onSubmit={() => {
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
                placeholder="https://… of the issue"
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
      {isCreating && <CreateIssue overview={overview} onClose={() => setIsCreating(false)} />}
    </Card>
  );
}

/** State of an issue that was created here, as its tracker told it last; it is asked again beside the page. */
function IssueState({ overview: { groupId, issueState } }: { readonly overview: ExceptionOverview }) {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(actionQuery(orgId, 'exceptions', 'get_exception_issue', { groupId }));
  const { state, isDone, at } = data ?? issueState ?? { state: null, isDone: false, at: null };
  const fault = data?.fault ?? null;
  return (
    <span className="grow small">
      {state !== null && (
        <Status tone={isDone ? 'green' : 'blue'}>
          <Name>{state.charAt(0).toUpperCase() + state.slice(1)}</Name>
        </Status>
      )}{' '}
      {at !== null && (
        <span className="dimmed">
          as of <Timestamp at={at} />
        </span>
      )}
      {fault !== null && <div className="dimmed">Its present state is not known: {fault}.</div>}
    </span>
  );
}

/** Dialog that creates an issue about an exception in the tracker of its service. */
function CreateIssue({
  overview: { groupId, title, tracker },
  onClose,
}: {
  readonly overview: ExceptionOverview;
  readonly onClose: () => void;
}) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const [values, setValues, draft] = useDraftState({
    form: `create_exception_issue ${groupId}`,
    base: { title: issueTitleOf(title) },
  });
  const [isSent, setIsSent] = useState(false);
  const creating = useMutation({
    mutationFn: () => invoke(orgId, 'create_exception_issue', { groupId, title: values.title.trim() }),
    onSuccess() {
      draft.done();
      onClose();
    },
    onSettled: () => refreshExceptions(queryClient, orgId, [groupId]),
  });
  return (
    <FormDialog
      title={`Create an issue in ${tracker?.title ?? 'the tracker'}`}
      onClose={onClose}
      saving={creating}
      failure="The issue was not created"
      atFields={values}
      draft={draft}
      labels={{ title: 'Title' }}
      submit="Create an issue"
      onSubmit={() => {
        setIsSent(true);
        if (values.title.trim() !== '' && !creating.isPending && draft.conflicts.length === 0) creating.mutate();
      }}
    >
      <TextInput
        label="Title"
        data-autofocus
        maxLength={ISSUE_TITLE_LENGTH_MAX}
        value={values.title}
        onChange={(event) => setValues({ title: event.currentTarget.value })}
        error={
          (isSent && values.title.trim() === '' && 'Enter a title') || faultsAtFields(creating.error, values)['title']
        }
      />
      <Text size="sm" c="dimmed">
        It goes to {tracker?.project}, with a link to this exception, its message, counts and the top of its stack.
      </Text>
    </FormDialog>
  );
}
