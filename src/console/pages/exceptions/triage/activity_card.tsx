import { ActionIcon, Button, Group, Skeleton, Textarea } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { type ActionName, type InputOf, invoke, pagedQuery, type ResultOf } from '#console/api/actions.ts';
import { refreshExceptions } from '#console/api/exceptions.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { Card } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { CancelButton, faultsAtFields, Form, newRequestKey } from '#console/components/forms/form.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { NoteText } from '#console/components/text/note_text.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconDots } from '#console/icons.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { snoozeText } from '#console/pages/exceptions/group_status.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import classes from '#console/pages/exceptions/triage/activity_card.module.css';

type Entry = ResultOf<'list_exception_activity'>['entries'][number];

/** Comments on a group and its history, newest first, below the form for a new one, which nothing moves. */
export function ActivityCard({ groupId }: { readonly groupId: string }) {
  const { org, may } = useOrganization();
  const list = useInfiniteQuery(pagedQuery(org.orgId, 'exceptions', 'list_exception_activity', { groupId }));
  const { data, error, refetch } = list;
  const entries = data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <Card
      title="Comments and history"
      rows={
        <>
          {may('exceptions:edit') && (
            <li className={classes.entry}>
              <CommentForm groupId={groupId} />
            </li>
          )}
          {entries.map((entry) => (
            <li key={entry.activityId} className={classes.entry}>
              <EntryView groupId={groupId} entry={entry} />
            </li>
          ))}
        </>
      }
    >
      {error !== null && data === undefined && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={40} />}
      {data !== undefined && entries.length === 0 && <p className={classes.none}>Nobody has done anything yet.</p>}
      <LoadMore list={list} />
    </Card>
  );
}

function EntryView({ groupId, entry }: { readonly groupId: string; readonly entry: Entry }) {
  const { session, may } = useOrganization();
  const [mode, setMode] = useState<'reading' | 'editing' | 'deleting'>('reading');
  const deleting = useChange(groupId, 'delete_exception_comment');
  const { activityId, at, by, facts, text, editedAt } = entry;
  if (mode === 'editing' && text !== null) {
    return <CommentForm groupId={groupId} comment={{ activityId, text }} onClose={() => setMode('reading')} />;
  }
  const isOwn = text !== null && by.userId === session.user.userId && may('exceptions:edit');
  return (
    <>
      <div className={classes.head}>
        <span>
          <b>
            <Person userId={by.userId} color={by.color}>
              {by.name ?? 'Tocsin'}
            </Person>
          </b>{' '}
          {activityText(facts, by.userId)}
          {(facts.kind === 'merged_into' || facts.kind === 'split_off') && (
            <>
              {' '}
              <Link to="/exceptions/$groupId" params={{ groupId: facts.groupId }}>
                another exception
              </Link>
            </>
          )}
        </span>
        <span className={`${classes.sub} tiny rigid`}>
          {editedAt !== null && 'edited, '}
          <Timestamp at={at} />
        </span>
        {isOwn && (
          <ActionMenu
            button={(props) => (
              <ActionIcon variant="subtle" color="gray" aria-label="Change this comment" {...props}>
                <IconDots size={18} />
              </ActionIcon>
            )}
            entries={[
              { text: 'Edit', onClick: () => setMode('editing') },
              { text: 'Delete', isDangerous: true, onClick: () => setMode('deleting') },
            ]}
          />
        )}
      </div>
      {text !== null && (
        <div className={classes.text}>
          <NoteText>{text}</NoteText>
        </div>
      )}
      {mode === 'deleting' && (
        <Confirm
          title="Delete this comment?"
          button="Delete"
          saving={deleting}
          onClose={() => setMode('reading')}
          onConfirm={() => deleting.mutate({ groupId, activityId })}
        >
          Nobody can read it any more. This cannot be undone.
        </Confirm>
      )}
    </>
  );
}

interface CommentFormProps {
  readonly groupId: string;
  /** The comment that is changed; none for a new one. */
  readonly comment?: { readonly activityId: string; readonly text: string };
  readonly onClose?: () => void;
}

function CommentForm({ groupId, comment, onClose }: CommentFormProps) {
  const [requestKey, setRequestKey] = useState(newRequestKey);
  const [{ text }, setValues, draft] = useDraftState({
    form: comment === undefined ? `add_exception_comment ${groupId}` : `edit_exception_comment ${comment.activityId}`,
    base: { text: comment?.text ?? '' },
  });
  const [fault, setFault] = useState<string | null>(null);
  const adding = useChange(groupId, 'add_exception_comment');
  const editing = useChange(groupId, 'edit_exception_comment');
  const { isPending, error } = comment === undefined ? adding : editing;
  const onSuccess = (): void => {
    draft.done();
    if (comment === undefined) setValues({ text: '' });
    setRequestKey(newRequestKey());
    onClose?.();
  };
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    const missing = text.trim() === '' ? 'Write something first' : null;
    setFault(missing);
    if (missing !== null || isPending || draft.conflicts.length > 0) return;
    if (comment === undefined) adding.mutate({ groupId, text, requestKey }, { onSuccess });
    else editing.mutate({ groupId, activityId: comment.activityId, text, before: comment.text }, { onSuccess });
  };
  return (
    <Form error={error} draft={draft} onSubmit={submit} className="stack spaced">
      <DraftNotice draft={draft} labels={{ text: 'Comment' }} />
      <Textarea
        {...(comment === undefined && { id: 'comment' })}
        aria-label={comment === undefined ? 'Add a comment' : 'Comment'}
        placeholder="Add a comment: what you know, what you try. Markdown works."
        autosize
        minRows={2}
        maxRows={10}
        maxLength={NOTE_LENGTH_MAX}
        readOnly={isPending}
        value={text}
        onChange={(event) => {
          setFault(null);
          setValues({ text: event.currentTarget.value });
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
        }}
        error={fault ?? faultsAtFields(error, { text })['text']}
      />
      {error !== null && <ErrorAlert title="The comment was not saved" error={error} atFields={{ text }} />}
      {(text !== '' || isPending || comment !== undefined) && (
        <Group justify="flex-end">
          {onClose !== undefined && <CancelButton size="sm" onCancel={onClose} />}
          <Button type="submit" size="sm" loading={isPending}>
            {comment === undefined ? 'Comment' : 'Save'}
          </Button>
        </Group>
      )}
    </Form>
  );
}

/** Runs an operation on the group and shows its history anew. */
function useChange<Name extends ActionName>(groupId: string, name: Name) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (input: InputOf<Name>) => invoke(orgId, name, input),
    onSettled: () => refreshExceptions(queryClient, orgId, [groupId]),
  });
}

type Facts = ResultOf<'list_exception_activity'>['entries'][number]['facts'];

const PAST = { unresolved: 'reopened it', resolved: 'resolved it', ignored: 'ignored it' } as const;

/** Returns an entry of the history as the rest of a sentence that begins with who did it. */
function activityText(facts: Facts, byUserId: string | null): string {
  switch (facts.kind) {
    case 'comment':
      return 'commented';
    case 'status': {
      const { after, fixedIn } = facts;
      if (fixedIn === undefined) return PAST[after];
      const { release, isNext } = fixedIn;
      return `${PAST[after]}, fixed in ${isNext ? 'the next release after' : 'release'} ${isolateBidi(release)}`;
    }
    case 'snoozed':
      return `snoozed it ${snoozeText(facts)}`;
    case 'snooze_ended':
      return `reopened it: ${endText(facts)}`;
    case 'assigned':
      if (facts.assigneeId !== null && facts.assigneeId === byUserId && facts.rule === undefined) return 'took it';
      return `${facts.name === null ? 'assigned it to nobody' : `assigned it to ${isolateBidi(facts.name)}`}${
        facts.rule === undefined ? '' : `, by assignment rule ${facts.rule}`
      }`;
    case 'regressed':
      return facts.release === null ? 'saw it come back' : `saw it come back in release ${isolateBidi(facts.release)}`;
    case 'merged':
      return `merged ${facts.groups === 1 ? 'another exception' : countText(facts.groups, 'exception')} into it`;
    case 'merged_into':
      return 'merged it into';
    case 'split_off':
      return 'separated';
    case 'issue':
      return facts.url === null ? 'removed its issue' : `linked the issue ${isolateBidi(facts.url)}`;
  }
}

function endText({ because, events, users }: Extract<Facts, { kind: 'snooze_ended' }>): string {
  switch (because) {
    case 'time':
      return 'its snooze was over';
    case 'events':
      return `${countText(events ?? 0, 'event')} since it was snoozed`;
    case 'users':
      return `${countText(users ?? 0, 'user')} since it was snoozed`;
  }
}
