import { Button, SegmentedControl, Text } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke, type ResultOf } from '#console/api/actions.ts';
import { addressOf } from '#console/api/http.ts';
import { IconCheck, IconCopy, IconEye } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import classes from '#console/pages/services/keys_card.module.css';

/** Snippets that make a service start sending, by kind of sender. */
const SNIPPETS: Readonly<
  Record<string, { readonly label: string; text(keys: { dsn: string; ingestionKey: string }): string }>
> = {
  node: {
    label: 'Node.js',
    text: ({ dsn }) => `import * as Sentry from '@sentry/node';\n\nSentry.init({ dsn: '${dsn}' });`,
  },
  browser: {
    label: 'Browser',
    text: ({ dsn }) => `import * as Sentry from '@sentry/browser';\n\nSentry.init({ dsn: '${dsn}' });`,
  },
  python: { label: 'Python', text: ({ dsn }) => `import sentry_sdk\n\nsentry_sdk.init(dsn="${dsn}")` },
  otlp: {
    label: 'OpenTelemetry',
    text: ({ ingestionKey }) =>
      [
        `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=${addressOf(INGEST_PATHS.otlp_metrics)}`,
        `OTEL_EXPORTER_OTLP_METRICS_HEADERS="Authorization=Bearer ${ingestionKey}"`,
        // Several SDKs speak gRPC unless they are told.
        'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf',
        'OTEL_METRICS_EXPORTER=otlp',
      ].join('\n'),
  },
  prometheus: {
    label: 'Prometheus',
    text: ({ ingestionKey }) =>
      [
        'remote_write:',
        `  - url: ${addressOf(INGEST_PATHS.prometheus_write)}`,
        '    authorization:',
        `      credentials: ${ingestionKey}`,
        '    queue_config:',
        '      retry_on_http_429: true',
      ].join('\n'),
  },
  curl: {
    label: 'curl',
    text: ({ ingestionKey }) =>
      [
        `curl ${addressOf(INGEST_PATHS.metrics_json)} \\`,
        `  -H 'Authorization: Bearer ${ingestionKey}' -H 'Content-Type: application/json' \\`,
        `  -d '{"points":[{"name":"checkout.latency","value":42}]}'`,
      ].join('\n'),
  },
};

interface SnippetProps {
  readonly masked: RevealedKeys;
  /** Credentials; null until somebody reveals them. */
  readonly keys: RevealedKeys | null;
  readonly isPending: boolean;
  readonly onReveal: () => void;
  /** Snippets that are offered; all of them if absent. */
  readonly kinds?: readonly string[];
}

/** Snippet that makes a service start sending. The text can be copied once it contains the real key. */
export function Snippet({ masked, keys, isPending, onReveal, kinds = Object.keys(SNIPPETS) }: SnippetProps) {
  const [kind, setKind] = useState(kinds[0] ?? 'node');
  const clipboard = useClipboard({ timeout: 2_000 });
  const snippet = SNIPPETS[kind];
  const text = snippet?.text(keys ?? masked) ?? '';
  return (
    <div className={classes.snippet}>
      <div className="row wraps spaced apart">
        <Text size="sm" fw={560}>
          Set up
        </Text>
        <div className={classes.tabs}>
          <SegmentedControl
            size="xs"
            aria-label="Set up for"
            value={kind}
            onChange={setKind}
            data={kinds.map((value) => ({ value, label: SNIPPETS[value]?.label ?? value }))}
          />
        </div>
        {keys === null ? (
          <Button
            size="xs"
            variant="default"
            leftSection={<IconEye size={16} />}
            loading={isPending}
            onClick={onReveal}
          >
            Show and fill in key
          </Button>
        ) : (
          <Button
            size="xs"
            variant="default"
            leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            onClick={() => clipboard.copy(text)}
          >
            {clipboard.copied ? 'Copied' : 'Copy snippet'}
          </Button>
        )}
      </div>
      {/* Focusable, so that it scrolls sideways by keyboard. */}
      <pre className={`${classes.code} bordered mono`} tabIndex={0} aria-label={`Set up for ${snippet?.label}`}>
        {text}
      </pre>
    </div>
  );
}

/** Credentials that a service sends data with. */
type RevealedKeys = Pick<ResultOf<'reveal_ingest_key'>, 'ingestionKey' | 'dsn'>;

/** Key of revealed secrets, outside of every topic: live changes must not load secrets again. */
export const revealedKeysKey = (serviceId: string) => ['revealed_keys', serviceId] as const;

/**
 * Returns the credentials of a service, loaded only on request, because the audit log records each load. All components
 * that show them share one answer. It is dropped when the last of them unmounts.
 */
export function useRevealedKeys(serviceId: string) {
  const { orgId } = useOrganization().org;
  const queryClient = useQueryClient();
  const queryKey = revealedKeysKey(serviceId);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }): Promise<RevealedKeys> => invoke(orgId, 'reveal_ingest_key', { serviceId }, signal),
    enabled: false,
    gcTime: 0,
  });
  return {
    keys: data ?? null,
    error,
    isPending: isFetching,
    reveal: () => void refetch(),
    hide: () => void queryClient.resetQueries({ queryKey }),
  };
}
