import { Stack, type StackProps } from '@mantine/core';
import { useState } from 'react';

import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { Form, SubmitButtons } from '#console/components/forms/form.tsx';
import type { Draft } from '#console/components/forms/use_draft.ts';
import type { DialogProps } from '#console/components/modal_dialog.tsx';

interface FormDialogProps<Values extends object> extends DialogProps {
  /** Mutation that the form starts. */
  readonly saving: { readonly isPending: boolean; readonly error: unknown };
  /** Title of the alert about an error of `saving`; without it, the children show the error. */
  readonly failure?: string;
  /** Fields of the form, by their names on the server: the alert does not repeat their faults. */
  readonly atFields?: object;
  readonly draft?: Draft<Values>;
  readonly labels?: Readonly<Record<keyof Values & string, string>>;
  readonly show?: (field: keyof Values & string, value: unknown) => string;
  /** Whether Cancel leaves the draft for the next time instead of discarding it. */
  readonly keepsDraft?: boolean;
  readonly submit: string;
  readonly isDisabled?: boolean;
  readonly gap?: StackProps['gap'];
  readonly onSubmit: (event: React.FormEvent<HTMLFormElement>) => void;
}

/**
 * Form in a dialog: notice of its draft, fields, the error of the last try, and buttons. Without a draft, what somebody has
 * typed is dropped only after a question.
 */
export function FormDialog<Values extends object>({
  saving: { isPending, error },
  failure,
  atFields,
  draft,
  labels,
  show,
  keepsDraft = false,
  submit,
  isDisabled = false,
  gap,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps<Values>) {
  const [isTyped, setIsTyped] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const close = (): void => {
    if (draft === undefined && isTyped) setIsAsking(true);
    else dialog.onClose();
  };
  return (
    <Dialog {...dialog} onClose={close}>
      <Form error={error} onSubmit={onSubmit} onInput={() => setIsTyped(true)}>
        <Stack {...(gap !== undefined && { gap })}>
          {draft !== undefined && labels !== undefined && (
            <DraftNotice draft={draft} labels={labels} {...(show !== undefined && { show })} />
          )}
          {children}
          {failure !== undefined && error !== null && (
            <ErrorAlert title={failure} error={error} {...(atFields !== undefined && { atFields })} />
          )}
          <SubmitButtons
            label={submit}
            isPending={isPending}
            isDisabled={isDisabled || (draft?.conflicts.length ?? 0) > 0}
            {...(draft !== undefined && !keepsDraft && { draft })}
            onCancel={close}
          />
        </Stack>
      </Form>
      {isAsking && (
        <Confirm
          title="Drop what you entered?"
          button="Drop it"
          cancel="Keep editing"
          saving={{ isPending: false, error: null }}
          onConfirm={dialog.onClose}
          onClose={() => setIsAsking(false)}
        >
          It is not saved yet.
        </Confirm>
      )}
    </Dialog>
  );
}
