import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';

import { invoke } from '#console/api/actions.ts';
import type { Me } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { PasswordField } from '#console/components/forms/password_field.tsx';
import { Status } from '#console/components/status.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { phonesOf } from '#console/pages/me/contact_card.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

/** Card of replies by SMS and call: confirmed phone numbers and an optional PIN. */
export function RepliesCard({ me }: { readonly me: Me }) {
  const phones = phonesOf(me);
  return (
    <Card
      title="Your replies"
      about="You can answer a page from your phone. Confirm your number so that nobody else can answer in your name."
      rows={phones.map((phone) => (
        <PhoneRow key={phone} phone={phone} isConfirmed={me.confirmedPhones.includes(phone)} />
      ))}
    >
      <Pin hasPin={me.hasReplyPin} />
    </Card>
  );
}

function PhoneRow({ phone, isConfirmed }: { readonly phone: string; readonly isConfirmed: boolean }) {
  const { orgId } = useOrganization().org;
  const request = useMutation({ mutationFn: () => invoke(orgId, 'request_phone_code', { phone }) });
  return (
    <Row
      title={phone}
      sub={
        <>
          {isConfirmed ? <Status tone="green">confirmed</Status> : <Status tone="gray">not confirmed</Status>}
          {request.isError && <ErrorAlert title="No code was sent" error={request.error} />}
          {request.isSuccess && !isConfirmed && <CodeForm phone={phone} />}
        </>
      }
    >
      {!isConfirmed && (
        <Button variant="default" loading={request.isPending} onClick={() => request.mutate()}>
          {request.isSuccess ? 'Send another code' : 'Send a code'}
        </Button>
      )}
    </Row>
  );
}

function CodeForm({ phone }: { readonly phone: string }) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { code: '' },
    validate: { code: (text) => (/^\d{6}$/.test(text.trim()) ? null : 'Enter the six digits from the SMS') },
  });
  const confirm = useMutation({
    mutationFn: (code: string) => invoke(orgId, 'confirm_phone', { phone, code }),
    onError: (error, code) => form.setErrors(faultsAtFields(error, { code })),
    async onSuccess({ confirmed, triesLeft }) {
      if (!confirmed) {
        form.setFieldError('code', `Wrong code. You can try ${triesLeft} more times.`);
        return;
      }
      showSuccess(`${phone} is confirmed.`);
      await refresh('me');
    },
  });
  return (
    <Form
      error={confirm.error ?? (confirm.data?.confirmed === false ? confirm.data : null)}
      onSubmit={form.onSubmit(({ code }) => confirm.mutate(code.trim()))}
    >
      <Group align="flex-end" mt="xs">
        <TextInput
          {...form.getInputProps('code')}
          label="Code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={8}
          w={140}
        />
        <Button type="submit" loading={confirm.isPending}>
          Confirm
        </Button>
      </Group>
      {confirm.isError && (
        <ErrorAlert title="The number was not confirmed" error={confirm.error} atFields={form.values} />
      )}
    </Form>
  );
}

function Pin({ hasPin }: { readonly hasPin: boolean }) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { pin: '' },
    validate: { pin: (text) => (/^\d{4,8}$/.test(text) ? null : 'Enter four to eight digits') },
  });
  const save = useMutation({
    mutationFn: (pin: string | null) => invoke(orgId, 'set_reply_pin', { pin }),
    onError: (error, pin) => form.setErrors(faultsAtFields(error, { pin })),
    async onSuccess({ hasReplyPin }) {
      form.reset();
      showSuccess(hasReplyPin ? 'Replies now need your PIN.' : 'Replies no longer need a PIN.');
      await refresh('me');
    },
  });
  return (
    <Form error={save.error} onSubmit={form.onSubmit(({ pin }) => save.mutate(pin))}>
      <Stack gap="xs">
        <Text size="sm">
          {hasPin
            ? 'Replies must include your PIN: “ACK 1234 PIN” by SMS. In a call you are asked for it.'
            : 'Optional: a PIN that replies by SMS and call must include.'}
        </Text>
        <Group align="flex-end">
          <PasswordField
            {...form.getInputProps('pin')}
            label={hasPin ? 'New PIN' : 'PIN'}
            inputMode="numeric"
            autoComplete="off"
            maxLength={8}
            w={180}
          />
          <Button type="submit" variant="default" loading={save.isPending}>
            {hasPin ? 'Change the PIN' : 'Set a PIN'}
          </Button>
          {hasPin && (
            <Button variant="subtle" loading={save.isPending} onClick={() => save.mutate(null)}>
              Remove the PIN
            </Button>
          )}
        </Group>
        {save.isError && <ErrorAlert title="The PIN was not saved" error={save.error} atFields={form.values} />}
      </Stack>
    </Form>
  );
}
