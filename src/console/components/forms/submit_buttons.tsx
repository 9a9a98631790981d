import { Button, Group } from '@mantine/core';

interface SubmitButtonsProps {
  readonly label: string;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  readonly cancel?: string;
  readonly onCancel: () => void;
}

/** Buttons at the end of the form of a dialog. */
export function SubmitButtons({
  label,
  isPending,
  isDisabled = false,
  cancel = 'Cancel',
  onCancel,
}: SubmitButtonsProps) {
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel}>
        {cancel}
      </Button>
      <Button type="submit" loading={isPending} disabled={isDisabled}>
        {label}
      </Button>
    </Group>
  );
}
