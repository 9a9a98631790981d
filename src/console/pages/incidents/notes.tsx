import { ActionIcon, type ActionIconProps, Button, type ElementProps, Group, Textarea } from '@mantine/core';
import { useRef, useState } from 'react';

import type { IncidentWithLog } from '#console/api/actions.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { CancelButton, faultsAtFields, Form, newRequestKey } from '#console/components/forms/form.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { NoteText } from '#console/components/text/note_text.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Person } from '#console/components/text/person_dot.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconDots } from '#console/icons.ts';
import { useMemberNames } from '#console/pages/incidents/member_names.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import classes from '#console/pages/incidents/notes.module.css';

type NoteButtonProps = ActionIconProps & ElementProps<'button', keyof ActionIconProps>;

function NoteButton(props: NoteButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label="Change this note" className={classes.menu} {...props}>
      <IconDots size={18} />
    </ActionIcon>
  );
}

export type Note = IncidentWithLog['notes'][number];

const LABELS = { text: 'Note' } as const;

const checkText = (text: string): string | null => {
  if (text.trim() === '') return 'Write something first';
  return text.length > NOTE_LENGTH_MAX
    ? `At most ${NOTE_LENGTH_MAX.toLocaleString()} characters; this has ${text.length}`
    : null;
};

/** Sends the form by Ctrl or ⌘ and Enter. */
const sendByKey = (event: React.KeyboardEvent<HTMLTextAreaElement>): void => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
};

/** Keeps the state of a note. It has one field, so incidents do not load the forms package. */
function useNoteForm(name: string, base: string) {
  const [{ text }, setValues, draft] = useDraftState({ form: name, base: { text: base } });
  const [fault, setFault] = useState<string | null>(null);
  const setText = (next: string): void => {
    setFault(null);
    setValues({ text: next });
  };
  return {
    text,
    setText,
    draft,
    fault,
    field: {
      value: text,
      onChange: (event: React.ChangeEvent<HTMLTextAreaElement>) => setText(event.currentTarget.value),
    },
    onSubmit: (send: () => void) => (event: React.FormEvent) => {
      event.preventDefault();
      const textFault = checkText(text);
      setFault(textFault);
      if (textFault === null) send();
    },
  };
}

interface NewNoteProps {
  readonly incidentId: string;
  /** Whether the form is above the page, and not in its place in the timeline. Its draft goes with it. */
  readonly isInDialog: boolean;
  readonly onClose: () => void;
}

/** Form for a note that everybody reads in the timeline. */
export function NewNote({ incidentId, isInDialog, onClose }: NewNoteProps) {
  if (!isInDialog) return <NoteForm incidentId={incidentId} />;
  return (
    <Dialog title="Add a note" onClose={onClose}>
      <NoteForm
        incidentId={incidentId}
        onAdded={() => {
          onClose();
          showSuccess('The note is in the timeline.');
        }}
      />
    </Dialog>
  );
}

interface NoteFormProps {
  readonly incidentId: string;
  readonly onAdded?: () => void;
}

function NoteForm({ incidentId, onAdded }: NoteFormProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [requestKey, setRequestKey] = useState(newRequestKey);
  const { text, setText, draft, fault, field: input, onSubmit } = useNoteForm(`add_incident_note ${incidentId}`, '');
  const adding = useIncidentChange('add_incident_note', incidentId);
  useShortcut('n', (event) => {
    event.preventDefault();
    field.current?.focus();
  });
  const submit = onSubmit(() => {
    if (adding.isPending) return;
    adding.mutate(
      { incidentId, text, requestKey },
      {
        onSuccess() {
          draft.done();
          setText('');
          setRequestKey(newRequestKey());
          onAdded?.();
        },
      },
    );
  });
  return (
    <Form error={adding.error} draft={draft} onSubmit={submit} className={`${classes.form} stack spaced`}>
      <DraftNotice draft={draft} labels={LABELS} />
      <Textarea
        ref={field}
        data-autofocus={onAdded !== undefined || undefined}
        aria-label="Add a note"
        placeholder="Add a note: what you see, what you try. Markdown works."
        autosize
        minRows={1}
        maxRows={10}
        onKeyDown={sendByKey}
        error={fault ?? faultsAtFields(adding.error, { text })['text']}
        readOnly={adding.isPending}
        {...input}
      />
      {adding.isError && <ErrorAlert title="The note was not added" error={adding.error} atFields={{ text }} />}
      {(text !== '' || adding.isPending) && (
        <Group justify="flex-end">
          <Button type="submit" size="sm" loading={adding.isPending}>
            Add note
          </Button>
        </Group>
      )}
    </Form>
  );
}

/** Note in the timeline. Its author can change and delete it. */
export function NoteEntry({ incidentId, note }: { readonly incidentId: string; readonly note: Note }) {
  const { session, may } = useOrganization();
  const nameOf = useMemberNames();
  const [mode, setMode] = useState<'reading' | 'editing' | 'deleting'>('reading');
  const deleting = useIncidentChange('delete_incident_note', incidentId);
  const isOwn = note.userId === session.user.userId && note.agentName === null && may('oncall:edit');
  if (mode === 'editing') return <EditNote incidentId={incidentId} note={note} onClose={() => setMode('reading')} />;
  return (
    <div className="shrinks">
      <div className={`${classes.head} row spaced`}>
        <b>
          {note.agentName === null ? (
            <Person userId={note.userId}>{capital(nameOf(note.userId))}</Person>
          ) : (
            <Name>{note.agentName}</Name>
          )}
        </b>
        {note.agentName !== null && <span className="dimmed">agent</span>}
        {note.editedAt !== null && (
          <span className="dimmed">
            edited <Timestamp at={note.editedAt} />
          </span>
        )}
        {isOwn && (
          <ActionMenu
            button={(props) => <NoteButton {...props} />}
            entries={[
              { text: 'Edit', onClick: () => setMode('editing') },
              { text: 'Delete', isDangerous: true, onClick: () => setMode('deleting') },
            ]}
          />
        )}
      </div>
      <div className={classes.text}>
        <NoteText>{note.text}</NoteText>
      </div>
      {mode === 'deleting' && (
        <Confirm
          title="Delete this note?"
          button="Delete"
          saving={deleting}
          onClose={() => setMode('reading')}
          onConfirm={() => deleting.mutate({ incidentId, noteId: note.noteId })}
        >
          Nobody can read it any more. This cannot be undone.
        </Confirm>
      )}
    </div>
  );
}

interface EditNoteProps {
  readonly incidentId: string;
  readonly note: Note;
  readonly onClose: () => void;
}

function EditNote({ incidentId, note, onClose }: EditNoteProps) {
  const { text, draft, fault, field: input, onSubmit } = useNoteForm(`edit_incident_note ${note.noteId}`, note.text);
  const editing = useIncidentChange('edit_incident_note', incidentId);
  const submit = onSubmit(() => {
    if (editing.isPending || draft.conflicts.length > 0) return;
    editing.mutate(
      { incidentId, noteId: note.noteId, text, before: note.text },
      {
        onSuccess() {
          draft.done();
          onClose();
        },
      },
    );
  });
  return (
    <Form error={editing.error} draft={draft} onSubmit={submit} className={`${classes.form} stack spaced`}>
      <DraftNotice draft={draft} labels={LABELS} />
      <Textarea
        aria-label="Note"
        autosize
        minRows={2}
        maxRows={10}
        autoFocus
        onKeyDown={sendByKey}
        error={fault ?? faultsAtFields(editing.error, { text })['text']}
        readOnly={editing.isPending}
        {...input}
      />
      {editing.isError && <ErrorAlert title="The note was not changed" error={editing.error} atFields={{ text }} />}
      <Group justify="flex-end">
        <CancelButton size="sm" onCancel={onClose} />
        <Button type="submit" size="sm" loading={editing.isPending} disabled={draft.conflicts.length > 0}>
          Save
        </Button>
      </Group>
    </Form>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
