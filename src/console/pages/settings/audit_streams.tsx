import { Button, Checkbox, Group, NativeSelect, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke, type ResultOf } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { faultsAtFields, Form } from '#console/components/forms/form.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';

type Stream = ResultOf<'list_audit_streams'>['streams'][number];

const KINDS = { webhook: 'Webhook', file: 'File of the operator' } as const;

/** Dialog of where the audit log is streamed to. */
export function AuditStreams({ onClose }: { readonly onClose: () => void }) {
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery(actionQuery(org.orgId, 'settings', 'list_audit_streams', {}));
  const isOwner = org.role === 'owner';
  return (
    <Dialog onClose={onClose} title="Streams of the audit log" isWide>
      <Stack>
        <Text size="sm" c="dimmed">
          Every row in order, with the chain that proves that none was changed.{' '}
          <a href={addressOf('docs/audit_streams')}>How streams work</a>
        </Text>
        {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton height={160} radius="lg" />}
        {data?.streams.length === 0 && <Text size="sm">The audit log is streamed nowhere yet.</Text>}
        {data?.streams.map((stream) => (
          <StreamCard key={stream.auditStreamId} stream={stream} isOwner={isOwner} />
        ))}
        {data !== undefined && isOwner && <AddStream hasFolder={data.hasFolder} streams={data.streams} />}
        {data !== undefined && !isOwner && <Text size="sm">Owners set streams up.</Text>}
      </Stack>
    </Dialog>
  );
}

function StreamCard({ stream, isOwner }: { readonly stream: Stream; readonly isOwner: boolean }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { auditStreamId, kind, target, isOn, behind, lastSuccessAt, lastFailure } = stream;
  const onSuccess = () => refresh('settings');
  const switching = useMutation({
    mutationFn: () => invoke(org.orgId, 'update_audit_stream', { auditStreamId, isOn: !isOn }),
    onSuccess,
  });
  const deleting = useMutation({
    mutationFn: () => invoke(org.orgId, 'delete_audit_stream', { auditStreamId }),
    onSuccess,
  });
  const failed = switching.error ?? deleting.error;
  return (
    <Card title={target} about={KINDS[kind]} action={<StreamStatus stream={stream} />}>
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {lastSuccessAt === null ? (
            'Nothing was sent yet'
          ) : (
            <>
              Last sent <Timestamp at={lastSuccessAt} />
            </>
          )}
          {behind > 0 && ` · ${behind.toLocaleString()} rows wait`}
        </Text>
        {lastFailure !== null && <Text size="sm">{lastFailure}</Text>}
        {failed !== null && <ErrorAlert title="Nothing was changed" error={failed} />}
        {isOwner && (
          <Group gap="xs">
            <Button variant="default" onClick={() => switching.mutate()} loading={switching.isPending}>
              {isOn ? 'Switch off' : 'Switch on'}
            </Button>
            <Button variant="subtle" color="red" onClick={() => deleting.mutate()} loading={deleting.isPending}>
              Delete
            </Button>
          </Group>
        )}
      </Stack>
    </Card>
  );
}

function StreamStatus({ stream: { isOn, failingSince } }: { readonly stream: Stream }) {
  if (!isOn) return <Status tone="gray">Off</Status>;
  if (failingSince === null) return <Status tone="green">On</Status>;
  return (
    <Status tone="amber">
      Failing since <Timestamp at={failingSince} />
    </Status>
  );
}

interface AddStreamProps {
  readonly hasFolder: boolean;
  readonly streams: readonly Stream[];
}

/** Form of a new stream, and the signing secret that was made for it, as long as the stream is there. */
function AddStream({ hasFolder, streams }: AddStreamProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const [kind, setKind] = useState<Stream['kind']>('webhook');
  const [address, setAddress] = useState('');
  const [fromBeginning, setFromBeginning] = useState(true);
  const adding = useMutation({
    mutationFn: () =>
      invoke(org.orgId, 'create_audit_stream', {
        kind,
        fromBeginning,
        ...(kind === 'webhook' && { address: address.trim() }),
      }),
    async onSuccess() {
      setAddress('');
      await refresh('settings');
    },
  });
  const shown = { kind, address };
  const faults = faultsAtFields(adding.error, shown);
  const isThere = streams.some(({ auditStreamId }) => auditStreamId === adding.data?.stream.auditStreamId);
  const secret = isThere ? (adding.data?.signingSecret ?? null) : null;
  return (
    <Form error={adding.error} onSubmit={() => adding.mutate()}>
      <Stack gap="sm">
        {secret !== null && (
          <>
            <Text size="sm">The receiver verifies messages with this secret. Tocsin cannot show it again.</Text>
            <CopyField label="Signing secret" value={secret} isShownOnce />
          </>
        )}
        {hasFolder && (
          <NativeSelect
            label="Kind"
            data={Object.entries(KINDS).map(([value, label]) => ({ value, label }))}
            value={kind}
            error={faults['kind']}
            onChange={(event) => setKind(event.currentTarget.value === 'file' ? 'file' : 'webhook')}
          />
        )}
        {kind === 'webhook' && (
          <TextInput
            label="Address"
            placeholder="https://siem.example.com/audit"
            required
            autoComplete="off"
            error={faults['address']}
            value={address}
            onChange={(event) => setAddress(event.currentTarget.value)}
          />
        )}
        <Checkbox
          label="Also send what is in the log already"
          checked={fromBeginning}
          onChange={(event) => setFromBeginning(event.currentTarget.checked)}
        />
        {adding.isError && <ErrorAlert title="The stream was not added" error={adding.error} atFields={shown} />}
        <Group>
          <Button type="submit" loading={adding.isPending}>
            Add a stream
          </Button>
        </Group>
      </Stack>
    </Form>
  );
}
