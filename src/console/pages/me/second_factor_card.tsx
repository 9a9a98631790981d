import { Button, Group, List, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { renderSVG } from 'uqr';

import {
  addPasskey,
  beginApp,
  confirmApp,
  removeApp,
  removePasskey,
  replaceRecoveryCodes,
  secondFactorsQuery,
} from '#console/api/second_factor.ts';
import { sessionQuery } from '#console/api/session.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { showSuccess } from '#console/components/notice.tsx';

type OpenDialog =
  | 'passkey'
  | 'app'
  | 'remove_app'
  | 'codes'
  | { readonly passkeyId: string; readonly name: string }
  | null;

/** Card of passkeys, an authenticator app and recovery codes, which are required in addition to the password. */
export function SecondFactorCard() {
  const { data, error, refetch } = useQuery(secondFactorsQuery);
  const queryClient = useQueryClient();
  const [open, setOpen] = useState<OpenDialog>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  const hasAny = data.passkeys.length > 0 || data.hasApp;
  const changed = async (recoveryCodes: readonly string[] | null, text: string): Promise<void> => {
    setOpen(null);
    setCodes(recoveryCodes);
    showSuccess(text);
    await queryClient.invalidateQueries({ queryKey: secondFactorsQuery.queryKey });
    await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
  return (
    <Card
      anchor="second-factor"
      title="Second factor"
      about={
        hasAny
          ? 'Required when you log in, before changes to keys and roles, and before deletions.'
          : 'Not set up. With one, your password alone is not enough to log in.'
      }
      rows={
        <>
          {data.passkeys.map(({ passkeyId, name, createdAt, lastUsedAt }) => (
            <Row
              key={passkeyId}
              title={<bdi>{name}</bdi>}
              sub={
                <>
                  Passkey, added <Timestamp at={createdAt} />
                  {lastUsedAt !== null && (
                    <>
                      , last used <Timestamp at={lastUsedAt} />
                    </>
                  )}
                </>
              }
            >
              <Button variant="default" onClick={() => setOpen({ passkeyId, name })} aria-label={`Remove ${name}`}>
                Remove
              </Button>
            </Row>
          ))}
          {data.hasApp && (
            <Row title="Authenticator app" sub="Six digits that change every 30 seconds">
              <Button variant="default" onClick={() => setOpen('remove_app')} aria-label="Remove the authenticator app">
                Remove
              </Button>
            </Row>
          )}
          {hasAny && (
            <Row title="Recovery codes" sub={`${data.recoveryCodesLeft} left; each works once`}>
              <Button variant="default" onClick={() => setOpen('codes')}>
                Create new codes
              </Button>
            </Row>
          )}
        </>
      }
    >
      <Group>
        {data.canAddPasskeys && (
          <Button variant="default" onClick={() => setOpen('passkey')}>
            Add a passkey
          </Button>
        )}
        {!data.hasApp && (
          <Button variant="default" onClick={() => setOpen('app')}>
            Set up an authenticator app
          </Button>
        )}
      </Group>
      {open === 'passkey' && (
        <AddPasskey
          onClose={() => setOpen(null)}
          onAdded={(recoveryCodes) => void changed(recoveryCodes, 'The passkey was added.')}
        />
      )}
      {open === 'app' && (
        <SetUpApp
          onClose={() => setOpen(null)}
          onAdded={(recoveryCodes) => void changed(recoveryCodes, 'The authenticator app is set up.')}
        />
      )}
      {open === 'remove_app' && (
        <Removal
          title="Remove the authenticator app?"
          remove={removeApp}
          onClose={() => setOpen(null)}
          onRemoved={() => void changed(null, 'The authenticator app was removed.')}
        />
      )}
      {open === 'codes' && (
        <NewCodes
          onClose={() => setOpen(null)}
          onCreated={(recoveryCodes) => void changed(recoveryCodes, 'Your new recovery codes are ready.')}
        />
      )}
      {open !== null && typeof open === 'object' && (
        <Removal
          title="Remove this passkey?"
          remove={() => removePasskey(open.passkeyId)}
          onClose={() => setOpen(null)}
          onRemoved={() => void changed(null, 'The passkey was removed.')}
        />
      )}
      {codes !== null && <RecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
    </Card>
  );
}

interface AddingProps {
  readonly onClose: () => void;
  readonly onAdded: (recoveryCodes: readonly string[] | null) => void;
}

function AddPasskey({ onClose, onAdded }: AddingProps) {
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name, such as: my phone' : null) },
  });
  const adding = useMutation({
    mutationFn: (name: string) => addPasskey(name.trim()),
    onError: (error, name) => form.setErrors(faultsAtFields(error, { name })),
    onSuccess: ({ recoveryCodes }) => onAdded(recoveryCodes),
  });
  return (
    <FormDialog
      onClose={onClose}
      title="Add a passkey"
      saving={adding}
      failure="No passkey was added"
      atFields={form.values}
      submit="Add"
      onSubmit={form.onSubmit(({ name }) => adding.mutate(name))}
    >
      <TextInput
        {...form.getInputProps('name')}
        label="Name"
        description="So that you recognise it, such as: my phone"
        maxLength={100}
        data-autofocus
      />
    </FormDialog>
  );
}

function SetUpApp({ onClose, onAdded }: AddingProps) {
  const { data, error } = useQuery({
    queryKey: ['new-authenticator-app'],
    queryFn: beginApp,
    staleTime: Infinity,
    gcTime: 0,
    retry: false,
  });
  const form = useForm({
    initialValues: { code: '' },
    validate: {
      code: (code) => (/^\d{6}$/.test(code.replaceAll(/\s/g, '')) ? null : 'Enter the six digits from the app'),
    },
  });
  const confirming = useMutation({
    mutationFn: (code: string) => confirmApp(code.replaceAll(/\s/g, '')),
    onError: (error, code) => form.setErrors(faultsAtFields(error, { code })),
    onSuccess: ({ recoveryCodes }) => onAdded(recoveryCodes),
  });
  return (
    <Dialog onClose={onClose} title="Set up an authenticator app">
      {error !== null && <ErrorAlert title="The app could not be set up" error={error} />}
      {data !== undefined && (
        <Form error={confirming.error} onSubmit={form.onSubmit(({ code }) => confirming.mutate(code))}>
          <Stack>
            <Text size="sm">
              Scan this with the app, or enter the secret there. Then enter the code that the app shows.
            </Text>
            <img
              src={`data:image/svg+xml;utf8,${encodeURIComponent(renderSVG(data.uri))}`}
              alt="QR code for the authenticator app"
              width={200}
              height={200}
            />
            <CopyField label="Secret" value={data.secret} />
            <TextInput
              {...form.getInputProps('code')}
              label="Code"
              inputMode="numeric"
              autoComplete="one-time-code"
              w={160}
            />
            {confirming.isError && (
              <ErrorAlert title="The app was not set up" error={confirming.error} atFields={form.values} />
            )}
            <SubmitButtons label="Set up" isPending={confirming.isPending} onCancel={onClose} />
          </Stack>
        </Form>
      )}
    </Dialog>
  );
}

function Removal(props: {
  readonly title: string;
  readonly remove: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly onRemoved: () => void;
}) {
  const removing = useMutation({ mutationFn: props.remove, onSuccess: props.onRemoved });
  return (
    <Confirm
      title={props.title}
      button="Remove"
      saving={removing}
      onConfirm={() => removing.mutate()}
      onClose={props.onClose}
    >
      You can no longer log in with it.
    </Confirm>
  );
}

function NewCodes(props: { readonly onClose: () => void; readonly onCreated: (codes: readonly string[]) => void }) {
  const creating = useMutation({
    mutationFn: replaceRecoveryCodes,
    onSuccess: ({ recoveryCodes }) => props.onCreated(recoveryCodes),
  });
  return (
    <Confirm
      title="Create new recovery codes?"
      button="Create new codes"
      isHarmless
      saving={creating}
      onConfirm={() => creating.mutate()}
      onClose={props.onClose}
    >
      Your current codes stop working.
    </Confirm>
  );
}

function RecoveryCodes({ codes, onClose }: { readonly codes: readonly string[]; readonly onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Your recovery codes" isShownOnce>
      <Stack>
        <Text size="sm">
          Store them where you can find them without your phone. They are shown only once, and each works once.
        </Text>
        <List listStyleType="none" ff="monospace">
          {codes.map((code) => (
            <List.Item key={code}>{code}</List.Item>
          ))}
        </List>
        <CopyField label="All codes" value={codes.join(' ')} isShownOnce />
        <Group justify="flex-end">
          <Button onClick={onClose}>I have saved them</Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
