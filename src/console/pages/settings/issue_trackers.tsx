import { Button, NativeSelect, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke, type ResultOf, topicKey } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { IconPlus } from '#console/icons.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { TRACKER_KINDS, trackerDeclarationOf } from '#modules/exceptions/decide/issue_tracker.ts';

type Tracker = ResultOf<'list_issue_trackers'>['trackers'][number];

/** Card of the issue trackers of the organization: people create issues about exceptions in them. */
export function IssueTrackersCard() {
  const { org, isAdmin } = useOrganization();
  const { data, error } = useQuery(actionQuery(org.orgId, 'settings', 'list_issue_trackers', {}));
  const [edited, setEdited] = useState<Tracker | 'new' | null>(null);
  const [deleted, setDeleted] = useState<Tracker | null>(null);
  return (
    <Card
      title="Issue trackers"
      about="“Create an issue” on an exception writes into the tracker of its service, with a link back and the stack."
      action={
        isAdmin && (
          <Button size="xs" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setEdited('new')}>
            Add a tracker
          </Button>
        )
      }
      rows={
        <>
          {data?.trackers.map((tracker, index) => (
            <Row
              key={tracker.trackerId}
              title={<Name>{`${tracker.title}: ${tracker.project}`}</Name>}
              sub={`${isolateBidi(tracker.address)}${index === 0 ? ' · for services that name no other' : ''}`}
            >
              {isAdmin && (
                <>
                  <Button size="xs" variant="default" onClick={() => setEdited(tracker)}>
                    Change
                  </Button>
                  <Button size="xs" variant="subtle" color="red" onClick={() => setDeleted(tracker)}>
                    Delete
                  </Button>
                </>
              )}
            </Row>
          ))}
          {data?.trackers.length === 0 && (
            <Row
              title="None"
              sub={
                isAdmin ? 'Add GitHub, GitLab or Jira Cloud.' : 'An owner or admin adds GitHub, GitLab or Jira Cloud.'
              }
            />
          )}
        </>
      }
    >
      {error !== null && <ErrorAlert title="The trackers could not be loaded" error={error} />}
      {edited !== null && (
        <TrackerForm
          // As it is now: somebody else may change it meanwhile.
          tracker={edited === 'new' ? null : (data?.trackers.find(isSameAs(edited)) ?? edited)}
          onClose={() => setEdited(null)}
        />
      )}
      {deleted !== null && <DeleteTracker tracker={deleted} onClose={() => setDeleted(null)} />}
    </Card>
  );
}

const isSameAs =
  ({ trackerId }: Tracker) =>
  (other: Tracker): boolean =>
    other.trackerId === trackerId;

function DeleteTracker({ tracker, onClose }: { readonly tracker: Tracker; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const deleting = useMutation({
    mutationFn: () => invoke(orgId, 'delete_issue_tracker', { trackerId: tracker.trackerId }),
    async onSuccess() {
      onClose();
      await refresh('settings');
    },
  });
  return (
    <Confirm
      title={named`Delete ${tracker.title} here?`}
      button="Delete"
      saving={deleting}
      onConfirm={() => deleting.mutate()}
      onClose={onClose}
    >
      Its token is deleted. Issues stay in {tracker.title}, and exceptions keep their links to them. This cannot be
      undone.
    </Confirm>
  );
}

const LABELS = {
  kind: 'Tracker',
  address: 'Address',
  account: 'Account',
  project: 'Project',
  issueType: 'Type of issue',
  token: 'Token',
};

/** Dialog that adds a tracker, or changes one. It is tried before it is saved. */
function TrackerForm({ tracker, onClose }: { readonly tracker: Tracker | null; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const refresh = useRefresh();
  const [values, setValues, draft] = useDraftState({
    form: `issue_tracker ${tracker?.trackerId ?? 'new'}`,
    base: {
      kind: tracker?.kind ?? 'github',
      address: tracker?.address ?? trackerDeclarationOf('github').address,
      account: tracker?.account ?? '',
      project: tracker?.project ?? '',
      issueType: tracker?.issueType ?? '',
      token: '',
    },
    secrets: ['token'],
  });
  const { kind, address, account, project, issueType, token } = values;
  const declared = trackerDeclarationOf(kind);
  const saving = useMutation({
    mutationFn: () => {
      const ofAccount = declared.hasAccount && { account, ...(issueType.trim() !== '' && { issueType }) };
      const fields = { address, project, ...ofAccount };
      return tracker === null
        ? invoke(orgId, 'create_issue_tracker', { kind, ...fields, token })
        : invoke(orgId, 'update_issue_tracker', {
            trackerId: tracker.trackerId,
            ...fields,
            ...(token !== '' && { token }),
            basedOn: {
              address: tracker.address,
              account: tracker.account,
              project: tracker.project,
              issueType: tracker.issueType,
            },
          });
    },
    async onSuccess() {
      showSuccess(`${declared.title} is connected.`);
      draft.done();
      onClose();
      await Promise.all(
        (['settings', 'exceptions'] as const).map(
          async (topic) => await queryClient.invalidateQueries({ queryKey: topicKey(orgId, topic) }),
        ),
      );
    },
    // The form shows what the other person has saved beside the input.
    onError: (error) => (isApiError(error, 409) ? refresh('settings') : undefined),
  });
  const [isSent, setIsSent] = useState(false);
  const missing = {
    address: address.trim() === '' && 'Enter the address of the tracker',
    project: project.trim() === '' && `Enter the ${declared.project.label.toLowerCase()}`,
    account: declared.hasAccount && account.trim() === '' && 'Enter the mail address of the account',
    token: tracker === null && token.trim() === '' && 'Enter the token',
    issueType: false,
  } as const;
  const faults = faultsAtFields(saving.error, values);
  const inputOf = (name: 'address' | 'account' | 'project' | 'issueType' | 'token') => ({
    value: values[name],
    error: (isSent && missing[name]) || faults[name],
    autoComplete: 'off',
    autoCapitalize: 'none',
    spellCheck: false,
    onChange: (event: React.ChangeEvent<HTMLInputElement>) =>
      setValues({ ...values, [name]: event.currentTarget.value }),
  });
  return (
    <FormDialog
      title={tracker === null ? 'Add an issue tracker' : named`Change ${tracker.title}`}
      onClose={onClose}
      saving={saving}
      failure="Nothing was saved"
      atFields={values}
      draft={draft}
      labels={LABELS}
      submit={tracker === null ? 'Add' : 'Save'}
      onSubmit={() => {
        setIsSent(true);
        const isWhole = Object.values(missing).every((fault) => fault === false);
        if (isWhole && !saving.isPending && draft.conflicts.length === 0) saving.mutate();
      }}
    >
      {tracker === null && (
        <NativeSelect
          label={LABELS.kind}
          value={kind}
          data={TRACKER_KINDS.map((value) => ({ value, label: trackerDeclarationOf(value).title }))}
          onChange={(event) => {
            const chosen = TRACKER_KINDS.find((candidate) => candidate === event.currentTarget.value) ?? kind;
            const usual = TRACKER_KINDS.some((other) => trackerDeclarationOf(other).address === address);
            const ofKind = chosen === 'jira' ? '' : trackerDeclarationOf(chosen).address;
            setValues({ ...values, kind: chosen, address: usual || address === '' ? ofKind : address });
          }}
        />
      )}
      <TextInput
        label={LABELS.address}
        description="As you open it in a browser; of your own server, if you run one."
        placeholder={declared.address}
        maxLength={500}
        inputMode="url"
        {...inputOf('address')}
      />
      <TextInput
        label={declared.project.label}
        description="A service can name another one."
        placeholder={declared.project.example}
        maxLength={200}
        {...inputOf('project')}
      />
      {declared.hasAccount && (
        <>
          <TextInput label="Mail address of the account" maxLength={200} {...inputOf('account')} />
          <TextInput label={LABELS.issueType} placeholder="Bug" maxLength={60} {...inputOf('issueType')} />
        </>
      )}
      <TextInput
        label={LABELS.token}
        description={
          tracker === null
            ? `${declared.token.charAt(0).toUpperCase()}${declared.token.slice(1)}. It is stored encrypted.`
            : 'Left empty, it stays as it is.'
        }
        type="password"
        maxLength={2_000}
        {...inputOf('token')}
      />
      <Text size="sm" c="dimmed">
        It is tried before it is saved: nothing is written there.
      </Text>
    </FormDialog>
  );
}
