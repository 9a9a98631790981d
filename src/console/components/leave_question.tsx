import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { use, useEffect, useState } from 'react';

import { type Loss, Losses, setAsk } from '#console/components/leaving.ts';

const TEXTS = {
  input: { title: 'Drop what you entered?', text: 'It is not saved yet.', stay: 'Keep editing', leave: 'Drop it' },
  secret: {
    title: 'Have you copied it?',
    text: 'It is shown only now. Nobody can show it again.',
    stay: 'Keep it open',
    leave: 'Close it',
  },
} as const;

let showQuestion: (loss: Loss) => void = () => {};
let pending: PromiseWithResolvers<boolean> | null = null;

/** Asks whether this may be lost. A second way out meanwhile waits for the same answer. */
function askToLeave(loss: Loss): Promise<boolean> {
  showQuestion(loss);
  pending ??= Promise.withResolvers<boolean>();
  return pending.promise;
}

/** Shows the question above everything else. Escape and a click outside lose nothing. */
export function LeaveQuestion() {
  const [asked, setAsked] = useState<Loss | null>(null);
  useEffect(() => {
    showQuestion = setAsked;
    setAsk((loss, leave) => void askToLeave(loss).then((isLeft) => isLeft && leave()));
  }, []);
  const answer = (isLeft: boolean): void => {
    setAsked(null);
    pending?.resolve(isLeft);
    pending = null;
  };
  if (asked === null) return null;
  const { title, text, stay, leave } = TEXTS[asked];
  return (
    <Modal opened onClose={() => answer(false)} title={title} zIndex={300}>
      <Stack>
        <Text size="sm">{text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={() => answer(false)} data-autofocus>
            {stay}
          </Button>
          <Button color="red" onClick={() => answer(true)}>
            {leave}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Implementation of `AskBeforeLeaving`. */
export function LeaveBlocker({ loss }: { readonly loss: Loss }) {
  const losses = use(Losses);
  useEffect(() => {
    const entry = { loss };
    losses?.add(entry);
    return () => void losses?.delete(entry);
  }, [losses, loss]);
  useBlocker({
    async shouldBlockFn({ action, current, next }) {
      // Back closes the dialog, which asks itself.
      if (current.pathname === next.pathname || (action === 'BACK' && losses !== null)) return false;
      return !(await askToLeave(loss));
    },
  });
  return null;
}
