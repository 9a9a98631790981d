import { Stack, type StackProps } from '@mantine/core';

import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { Form, SubmitButtons } from '#console/components/forms/form.tsx';
import type { Draft } from '#console/components/forms/use_draft.ts';
import type { DialogProps } from '#console/components/modal_dialog.tsx';

interface FormDialogProps<Values extends object> extends DialogProps {
  readonly saving: { readonly isPending: boolean; readonly error: unknown };
  /** Title of the alert about an error of `saving`; without it, the children show the error. */
  readonly failure?: string;
  /** Fields of the form, by their names on the server: the alert does not repeat their faults. */
  readonly atFields?: object;
  readonly draft?: Draft<Values>;
  readonly labels?: Readonly<Record<keyof Values & string, string>>;
  readonly show?: (field: keyof Values & string, value: unknown) => string;
  readonly submit: string;
  readonly isDisabled?: boolean;
  readonly gap?: StackProps['gap'];
  readonly onSubmit: (event: React.FormEvent<HTMLFormElement>) => void;
}

/** Form in a dialog: notice of its draft, fields, the error of the last try, and buttons. */
export function FormDialog<Values extends object>({
  saving: { isPending, error },
  failure,
  atFields,
  draft,
  labels,
  show,
  submit,
  isDisabled = false,
  gap,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps<Values>) {
  return (
    <Dialog {...dialog}>
      <Form error={error} draft={draft} onSubmit={onSubmit}>
        <Stack {...(gap !== undefined && { gap })}>
          {draft !== undefined && labels !== undefined && (
            <DraftNotice draft={draft} labels={labels} {...(show !== undefined && { show })} />
          )}
          {children}
          {failure !== undefined && error !== null && (
            <ErrorAlert title={failure} error={error} {...(atFields !== undefined && { atFields })} />
          )}
          <SubmitButtons label={submit} isPending={isPending} isDisabled={isDisabled} onCancel={dialog.onClose} />
        </Stack>
      </Form>
    </Dialog>
  );
}
