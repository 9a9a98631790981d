import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { type SecondFactorProof, requestPasskey } from '#console/api/second_factor.ts';
import type { PendingSignIn } from '#console/api/session.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { TextButton } from '#console/components/buttons.tsx';

/** Names of the field in errors of the server. */
const AT_FIELD = { code: '', recoveryCode: '' };

type Method = PendingSignIn['methods'][number];

interface SecondFactorFormProps {
  readonly methods: readonly Method[];
  /** Token of the incomplete sign-in; null for somebody who is signed in. */
  readonly token: string | null;
  readonly onSubmit: (proof: SecondFactorProof) => Promise<void>;
}

/** Form that asks for a passkey, an authenticator app's code or a recovery code, depending on what the person has. */
export function SecondFactorForm({ methods, token, onSubmit }: SecondFactorFormProps) {
  const codes = methods.filter((method) => method !== 'passkey');
  const [kind, setKind] = useState<Method>(codes.includes('code') ? 'code' : 'recovery_code');
  const isRecovery = kind === 'recovery_code';
  const form = useForm({
    initialValues: { text: '' },
    validate: {
      text: (text) => {
        if (isRecovery) return text.trim() === '' ? 'Enter one of your recovery codes' : null;
        return /^\d{6}$/.test(text.replaceAll(/\s/g, '')) ? null : 'Enter the six digits from your app';
      },
    },
  });
  const attempt = useMutation({
    mutationFn: async (obtain: () => Promise<SecondFactorProof>) => onSubmit(await obtain()),
    onError: (error) => form.setErrors({ text: faultsAtFields(error, AT_FIELD)[isRecovery ? 'recoveryCode' : 'code'] }),
  });
  const submit = ({ text }: { text: string }): void => {
    const proof = isRecovery ? { recoveryCode: text.trim() } : { code: text.replaceAll(/\s/g, '') };
    attempt.mutate(async () => proof);
  };
  return (
    <Stack>
      {attempt.isError && <ErrorAlert title="That did not work" error={attempt.error} atFields={AT_FIELD} />}
      {methods.includes('passkey') && (
        <Button
          size="md"
          variant={codes.length === 0 ? 'filled' : 'default'}
          loading={attempt.isPending}
          onClick={() => attempt.mutate(() => requestPasskey(token))}
        >
          Use a passkey
        </Button>
      )}
      {codes.length > 0 && (
        <Form error={attempt.error} isQuick onSubmit={form.onSubmit(submit)}>
          <Stack>
            <TextInput
              {...form.getInputProps('text')}
              size="md"
              label={isRecovery ? 'Recovery code' : 'Code from your authenticator app'}
              inputMode={isRecovery ? 'text' : 'numeric'}
              autoComplete="one-time-code"
              data-autofocus
            />
            <Button type="submit" size="md" loading={attempt.isPending}>
              Continue
            </Button>
          </Stack>
        </Form>
      )}
      {codes.length > 1 && (
        <Text size="sm" ta="center">
          <TextButton
            onClick={() => {
              form.reset();
              setKind(isRecovery ? 'code' : 'recovery_code');
            }}
          >
            {isRecovery ? 'Use a code from your app' : 'Use a recovery code'}
          </TextButton>
        </Text>
      )}
    </Stack>
  );
}
