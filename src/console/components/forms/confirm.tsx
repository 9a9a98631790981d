import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Sentence } from '#console/components/text/name.tsx';

interface ConfirmProps {
  readonly title: ReactNode;
  /** Consequences of the action, and whether it can be undone. */
  readonly children: ReactNode;
  readonly button: string;
  readonly isHarmless?: boolean;
  /** Text of the button that changes nothing. */
  readonly cancel?: string;
  /** Name that the person has to type first, if set. */
  readonly name?: string;
  /** Change that confirming starts: a mutation, or its state. */
  readonly saving: { readonly isPending: boolean; readonly error: unknown };
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Dialog that asks for confirmation before a change that affects others. */
export function Confirm(props: ConfirmProps) {
  const { title, children, button, isHarmless = false, cancel = 'Cancel', name, saving, onConfirm, onClose } = props;
  const { isPending, error } = saving;
  const [typed, setTyped] = useState('');
  const isConfirmed = name === undefined || typeable(typed) === typeable(name);
  return (
    <Dialog onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (isConfirmed) onConfirm();
        }}
      >
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          {name !== undefined && (
            <TextInput
              label={
                <>
                  Type{' '}
                  <b>
                    <Sentence>{name}</Sentence>
                  </b>{' '}
                  to confirm
                </>
              }
              value={typed}
              onChange={(event) => setTyped(event.currentTarget.value)}
              data-autofocus
            />
          )}
          {error !== null && error !== undefined && <ErrorAlert title="Nothing was changed" error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {cancel}
            </Button>
            <Button type="submit" color={isHarmless ? 'blue' : 'red'} disabled={!isConfirmed} loading={isPending}>
              {button}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** Returns the part of a name that can be seen, and so be typed. */
function typeable(name: string): string {
  return withoutBidiControls(name).replaceAll(/\s+/g, ' ').trim();
}
