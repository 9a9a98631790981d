import { Button, Group } from '@mantine/core';

interface SubmitButtonsProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  /** Draft of the form: nothing is sent while it has conflicts, and Cancel discards it. */
  readonly draft?: { readonly conflicts: readonly unknown[]; readonly startOver: () => void };
  readonly cancel?: string;
  readonly onCancel: () => void;
}

/** Buttons at the end of the form of a dialog. */
export function SubmitButtons({
  label,
  isPending,
  isDisabled = false,
  draft,
  cancel = 'Cancel',
  onCancel,
}: SubmitButtonsProps) {
  const hasConflicts = draft !== undefined && draft.conflicts.length > 0;
  const discard = (): void => {
    draft?.startOver();
    onCancel();
  };
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={discard}>
        {cancel}
      </Button>
      <Button type="submit" loading={isPending} disabled={isDisabled || hasConflicts}>
        {label}
      </Button>
    </Group>
  );
}
