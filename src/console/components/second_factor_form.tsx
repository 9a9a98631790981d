import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { type Shown, showPasskey } from '#console/api/second_factor.ts';
import type { PendingSignIn } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { TextButton } from '#console/components/text_button.tsx';

type Method = PendingSignIn['methods'][number];

interface SecondFactorFormProps {
  readonly methods: readonly Method[];
  /** The sign-in that waits; null for who is signed in. */
  readonly token: string | null;
  readonly onShow: (shown: Shown) => Promise<void>;
}

/** Asks for a passkey, the code of an app, or a recovery code, whichever the person has. */
export function SecondFactorForm({ methods, token, onShow }: SecondFactorFormProps) {
  const codes = methods.filter((method) => method !== 'passkey');
  const [kind, setKind] = useState<Method>(codes.includes('code') ? 'code' : 'recovery_code');
  const isRecovery = kind === 'recovery_code';
  const form = useForm({
    initialValues: { text: '' },
    validate: {
      text: (text) => {
        if (isRecovery) return text.trim() === '' ? 'One of your recovery codes' : null;
        return /^\d{6}$/.test(text.replaceAll(/\s/g, '')) ? null : 'The six digits that your app shows';
      },
    },
  });
  const attempt = useMutation({ mutationFn: async (ask: () => Promise<Shown>) => onShow(await ask()) });
  const submit = ({ text }: { text: string }): void => {
    const shown = isRecovery ? { recoveryCode: text.trim() } : { code: text.replaceAll(/\s/g, '') };
    attempt.mutate(async () => shown);
  };
  return (
    <Stack>
      {attempt.isError && <ErrorAlert title="That did not work" error={attempt.error} />}
      {methods.includes('passkey') && (
        <Button
          size="md"
          variant={codes.length === 0 ? 'filled' : 'default'}
          loading={attempt.isPending}
          onClick={() => attempt.mutate(() => showPasskey(token))}
        >
          Use a passkey
        </Button>
      )}
      {codes.length > 0 && (
        <form onSubmit={form.onSubmit(submit)} noValidate>
          <Stack>
            <TextInput
              {...form.getInputProps('text')}
              size="md"
              label={isRecovery ? 'Recovery code' : 'Code of your authenticator app'}
              inputMode={isRecovery ? 'text' : 'numeric'}
              autoComplete="one-time-code"
              data-autofocus
            />
            <Button type="submit" size="md" loading={attempt.isPending}>
              Continue
            </Button>
          </Stack>
        </form>
      )}
      {codes.length > 1 && (
        <Text size="sm" ta="center">
          <TextButton
            onClick={() => {
              form.reset();
              setKind(isRecovery ? 'code' : 'recovery_code');
            }}
          >
            {isRecovery ? 'Use the code of your app' : 'Use a recovery code'}
          </TextButton>
        </Text>
      )}
    </Stack>
  );
}
